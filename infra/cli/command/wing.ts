/** The door of services across clusters (docs/use/clusterset.md): their commands, and their options of `start`. */
import type { Command } from 'commander';
import { exportsOfMember, importsOfCluster, setOptions } from '#infra/clusterset/act/clusterset-commands.ts';

export const clusterCommands: readonly (() => Command)[] = [importsOfCluster, exportsOfMember];
export const startOptions: readonly ((start: Command) => Command)[] = [setOptions];
