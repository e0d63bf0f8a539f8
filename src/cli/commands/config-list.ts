import { loadConfig, readConfigFile } from '../../config/load.ts';
import { defineCommand } from '../command.ts';
import { listSettings } from '../settings.ts';

export const configList = defineCommand({
  name: ['config', 'list'],
  summary: 'print every setting, its value and where that comes from',
  async run(context) {
    const { configFile } = context.paths;
    const [config, written] = await Promise.all([loadConfig(context.paths), readConfigFile(context.paths)]);
    return { file: configFile, settings: listSettings(config, written) };
  },
  view: ({ settings }) => ({
    kind: 'table',
    columns: ['SETTING', 'VALUE', 'FROM'],
    rows: settings.map(({ key, value, from }) => [key, JSON.stringify(value), from]),
    empty: '',
  }),
});
