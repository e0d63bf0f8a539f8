import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { isAbsolute, join } from 'node:path';

/** Shows a notification on the person's desktop. */
export type Notify = (title: string, text: string) => void;

/** How each program takes a title and a text. Neither gets them through a shell or as a script. */
const PROGRAMS: readonly { name: string; args: (title: string, text: string) => string[] }[] = [
  { name: 'notify-send', args: (title, text) => ['--app-name=contextd', '--', title, withoutMarkup(text)] },
  {
    name: 'osascript',
    args: (title, text) => [
      ...['-e', 'on run argv'],
      ...['-e', 'display notification (item 2 of argv) with title (item 1 of argv)'],
      ...['-e', 'end run'],
      title,
      text,
    ],
  },
];

/** Null if PATH has no program for it. A failure of the program changes nothing: the terminal shows the same. */
export function desktopNotify(path: string): Notify | null {
  for (const { name, args } of PROGRAMS) {
    const program = findProgram(name, path);
    if (program !== null)
      return (title, text) => {
        const child = spawn(program, args(title, text), { stdio: 'ignore' });
        child.on('error', () => {});
        child.unref();
      };
  }
  return null;
}

/** Relative directories of PATH are left out: the current directory may be a project of an agent. */
function findProgram(name: string, path: string): string | null {
  const candidates = path
    .split(':')
    .filter(isAbsolute)
    .map((dir) => join(dir, name));
  return candidates.find(isExecutable) ?? null;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Notification servers read the text as markup. */
function withoutMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
