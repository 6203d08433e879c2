/** The zone of the page's times: UTC, or that of the browser. URLs and commands always have UTC. */
const key = 'time-zone';
let isLocal = ofStorage((storage) => storage.getItem(key)) === 'local';

/** A browser that blocks all cookies has no storage: the choice then lasts as long as the page. */
function ofStorage<T>(use: (storage: Storage) => T): T | undefined {
  try {
    return use(localStorage);
  } catch {
    return undefined;
  }
}

export const zoneName = (): 'local' | 'UTC' => (isLocal ? 'local' : 'UTC');

export function switchZone(): void {
  isLocal = !isLocal;
  ofStorage((storage) => storage.setItem(key, zoneName()));
}

/** Returns `2026-03-01T14:03:00.000` in the chosen zone. */
const timeIn = (atMs: number): string =>
  new Date(isLocal ? atMs - new Date(atMs).getTimezoneOffset() * 60_000 : atMs).toISOString().slice(0, -1);

export const dateText = (atMs: number): string => timeIn(atMs).slice(0, 19).replace('T', ' ');
export const clockText = (atMs: number): string => timeIn(atMs).slice(11, 19);

/** Without seconds, as the field for a date and time has it. */
export const minuteText = (atMs: number): string => timeIn(atMs).slice(0, 16);
/** Returns NaN for an incomplete text. */
export const parseMinute = (text: string): number => Date.parse(isLocal ? text : `${text}Z`);

const utcTime = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** Returns the text of an answer with its times in the chosen zone. A local time has no Z at its end. */
export const inZone = (text: string): string =>
  isLocal
    ? text.replace(utcTime, (time, fraction = '') => `${timeIn(Date.parse(time)).slice(0, 19)}${fraction}`)
    : text;
