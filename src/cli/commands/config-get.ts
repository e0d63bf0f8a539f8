import { loadConfig } from '../../config/load.ts';
import { defineCommand } from '../command.ts';
import { readSetting } from '../settings.ts';

export const configGet = defineCommand({
  name: ['config', 'get'],
  summary: 'print one setting, or one group of them, as it is in force',
  parameters: [{ syntax: '<key>', help: 'such as budget.default_tokens' }],
  async run(context, given) {
    return readSetting(await loadConfig(context.paths), given.requiredWord(0));
  },
  view: (value) => ({ kind: 'lines', lines: [typeof value === 'string' ? value : JSON.stringify(value)] }),
});
