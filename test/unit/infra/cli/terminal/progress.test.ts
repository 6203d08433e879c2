import { expect, it } from 'vitest';
import { progress, progressText } from '#infra/cli/terminal/progress.ts';

function output(isTTY: boolean) {
  const written: string[] = [];
  return { written, isTTY, columns: 60, write: (text: string) => written.push(text) };
}

it('a bar shows the share that is done; without a total there is a count', () => {
  expect(progressText('redriving', 12, 40, 'messages')).toBe(
    'redriving ███████░░░░░░░░░░░░░░░░░ 12 of 40 (30 %) messages',
  );
  expect(progressText('looking', 300, undefined, 'messages so far')).toBe('looking: 300 messages so far');
});

it('a terminal gets one line that is drawn over, shorter than the terminal is wide, and taken away at the end', () => {
  const out = output(true);
  let now = 0;
  const shown = progress('redriving the messages of every cluster', out, () => now);
  for (now = 100; now <= 1_000; now += 100)
    shown.update(now / 100, 10, 'messages of a queue with a long name');
  shown.end();
  expect(out.written).toHaveLength(11);
  expect(out.written.every((text) => text.startsWith('\r\x1b[2K') && text.length < 60 + 5)).toBe(true);
  expect(out.written.at(-1)).toBe('\r\x1b[2K');
});

it('elsewhere a plain line comes now and then, and no control characters', () => {
  const out = output(false);
  let now = 0;
  const shown = progress('redriving', out, () => now);
  for (now = 0; now <= 30_000; now += 100) shown.update(now / 100, 300, 'messages');
  shown.end();
  expect(out.written).toEqual([
    'redriving: 100 of 300 messages\n',
    'redriving: 200 of 300 messages\n',
    'redriving: 300 of 300 messages\n',
  ]);
});
