import { type Door, door } from './door.ts';
import { annotations } from './doors/annotations.ts';
import { api } from './doors/api.ts';
import { clustersFile } from './doors/clusters-file.ts';
import { commandLine } from './doors/command-line.ts';
import { console } from './doors/console.ts';
import { events } from './doors/events.ts';
import { records } from './doors/records.ts';
import { relay } from './doors/relay.ts';
import { wakeUps } from './doors/wake-ups.ts';

/** Every place where the system takes in what others have written. */
export const doors: readonly Door[] = [
  door(events),
  door(wakeUps),
  door(records),
  door(api),
  door(relay),
  door(annotations),
  door(clustersFile),
  door(commandLine),
  door(console),
];
