import { expect, it } from 'vitest';
import { withoutSetting, withSetting } from '#src/cli/commands/config.js';
import { acceptConfig } from '#src/config/load.js';
import { listSettings, requireSetting } from '#src/config/settings.js';

it('FR-9.6 knows every setting by its dotted key, in groups within groups too', () => {
  const keys = listSettings(acceptConfig('config.json', {}), {}).map(({ key }) => key);
  expect(keys).toEqual(expect.arrayContaining(['budget.max_tokens', 'budget.doors', 'memory.qdrant.url']));
  expect(keys).not.toContain('memory.qdrant');
  expect(requireSetting('memory.qdrant.url')).toBe('memory.qdrant.url');
  expect(() => requireSetting('memory.qdrant')).toThrow('there is no setting "memory.qdrant"');
});

it('FR-9.6 sets and unsets a setting, and leaves out a group without settings', () => {
  const one = withSetting({ log: { level: 'info' } }, 'memory.qdrant.collection', 'team');
  const both = withSetting(one, 'memory.qdrant.url', 'https://qdrant.example.com');
  expect(both).toEqual({
    log: { level: 'info' },
    memory: { qdrant: { collection: 'team', url: 'https://qdrant.example.com' } },
  });
  expect(withoutSetting(both, 'memory.qdrant.url')).toEqual(one);
  expect(withoutSetting(one, 'memory.qdrant.collection')).toEqual({ log: { level: 'info' } });
  expect(withoutSetting({}, 'memory.qdrant.url')).toEqual({});
});
