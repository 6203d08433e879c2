/** Reads clusters.yaml. */
import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import { configShape } from './config-shape.ts';
import { readYaml } from './yaml/yaml-shape.ts';

/** `givenBy`: how another file is given to the program that asks. */
export function loadConfig(file: string, givenBy: string): Config {
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (e) {
    throw new Error(
      `no clusters file at ${file}: fleet-endpoints config init writes one, or give another file: ${givenBy}`,
      {
        cause: e,
      },
    );
  }
  return parseConfig(file, yaml);
}

export const parseConfig = (file: string, yaml: string): Config => readYaml(file, yaml, configShape);
