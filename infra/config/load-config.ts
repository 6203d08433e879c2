/** Reads clusters.yaml. */
import { readFileSync } from 'node:fs';
import type { Config } from './config.ts';
import { configShape } from './config-shape.ts';
import { readYaml } from './yaml-shape.ts';

export function loadConfig(file: string): Config {
  let yaml: string;
  try {
    yaml = readFileSync(file, 'utf8');
  } catch (e) {
    throw new Error(`no clusters file at ${file}: copy clusters.example.yaml to clusters.yaml, or give another file with -c clusters=FILE`, {
      cause: e,
    });
  }
  return parseConfig(file, yaml);
}

export const parseConfig = (file: string, yaml: string): Config => readYaml(file, yaml, configShape);
