import type { Writable } from 'node:stream';
import type { InstallProgress__Output as InstallProgress } from '../protocol/generated/management.ts';
import { formatBytes } from './bytes.ts';
import { printable } from './render.ts';

/** Shows how far an installation is. */
export interface ProgressDisplay {
  show(progress: InstallProgress): void;
  /** Removes the bar, so that other text can follow. */
  end(): void;
}

const BAR_CHARS = 24;
/** Columns if the terminal does not say. */
const COLUMNS_UNKNOWN = 80;
const CLEAR_LINE = '\r\u001b[K';

/** A bar that overwrites itself on a terminal; elsewhere one plain line for each step. */
export function createProgress(stream: Writable & { isTTY?: boolean; columns?: number }): ProgressDisplay {
  return stream.isTTY === true ? createBar(stream) : createLines(stream);
}

function createLines(stream: Writable): ProgressDisplay {
  let last = '';
  return {
    show({ step, text }) {
      const line = `${step}${text === '' ? '' : ` ${printable(text)}`}`;
      if (line !== last) stream.write(`${line}\n`);
      last = line;
    },
    end() {},
  };
}

function createBar(stream: Writable & { columns?: number }): ProgressDisplay {
  return {
    show(progress) {
      stream.write(`${CLEAR_LINE}${barLine(progress).slice(0, (stream.columns ?? COLUMNS_UNKNOWN) - 1)}`);
    },
    end() {
      stream.write(CLEAR_LINE);
    },
  };
}

function barLine({ step, bytes, total_bytes: total, bytes_per_second: rate, text }: InstallProgress): string {
  const amount = bytes === 0 ? '' : total === 0 ? formatBytes(bytes) : `${formatBytes(bytes)} of ${formatBytes(total)}`;
  const parts = [
    step.padEnd(8),
    ...(total === 0 ? [] : [bar(bytes / total)]),
    amount,
    rate === 0 ? '' : `${formatBytes(rate)}/s`,
    printable(text).replaceAll('\n', ' '),
  ];
  return parts.filter((part) => part !== '').join('  ');
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, share) * BAR_CHARS);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR_CHARS - full)}]`;
}
