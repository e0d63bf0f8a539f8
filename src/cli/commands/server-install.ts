import { type Command, defineCommand } from '../command.ts';
import { serviceDefinition } from '../service/definition.ts';
import { removeService, writeService } from '../service/service-file.ts';

interface Installed {
  readonly file: string;
  /** `shown`: nothing was written. */
  readonly done: 'written' | 'replaced' | 'unchanged' | 'shown';
  readonly text: string;
  /** What a person runs next. */
  readonly next: readonly string[];
}

const install = defineCommand<Installed>({
  name: ['server', 'install'],
  summary: 'Have the system start the daemon at login and after a failure: a systemd user unit, or a launchd agent.',
  options: [{ syntax: '--print', help: 'print the file, and write nothing' }],
  async run(context, args) {
    const { file, text, enable } = serviceDefinition(context, process.platform);
    const done = args.flag('print') ? 'shown' : await writeService({ file, text });
    return { file, done, text, next: ['ctxd server stop', ...enable] };
  },
  view: ({ file, done, text, next }) =>
    done === 'shown'
      ? { kind: 'raw', text }
      : {
          kind: 'lines',
          lines: [
            done === 'unchanged' ? `${file} is as it should be` : `${done}: ${file}`,
            'Next:',
            ...next.map((line) => `  ${line}`),
          ],
        },
});

const uninstall = defineCommand<{ file: string; removed: boolean; next: readonly string[] }>({
  name: ['server', 'uninstall'],
  summary: 'Take back `ctxd server install`. A daemon that runs goes on.',
  async run(context) {
    const definition = serviceDefinition(context, process.platform);
    const removed = await removeService(definition);
    return { file: definition.file, removed, next: removed ? definition.disable : [] };
  },
  view: ({ file, removed, next }) => ({
    kind: 'lines',
    lines: removed
      ? [`removed ${file}`, 'To stop what it started:', ...next.map((line) => `  ${line}`)]
      : [`there is no ${file}`],
  }),
});

export const serverInstallCommands: readonly Command[] = [install, uninstall];
