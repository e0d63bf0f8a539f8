import { createHash } from 'node:crypto';
import { acceptConfig, readConfigFile } from '../../config/load.ts';
import type { Paths } from '../../config/paths.ts';
import { readSetting, settingKeys, shownValue } from '../../config/settings.ts';
import type { Json } from '../../core/json.ts';
import type { Part } from '../../core/lifecycle.ts';
import type { Management } from '../../protocol/management-contract.ts';
import { type Database, textOf } from '../../stores/sqlite.ts';
import { type RecordedActsDeps, recordAct } from '../shared/recorded-acts.ts';

export interface RecordedSettingsDeps extends RecordedActsDeps {
  paths: Pick<Paths, 'configFile'>;
  database: Database;
}

/**
 * Puts every change of a setting on record. The file is compared with the settings that were recorded last, because
 * `ctxd config set` works without a daemon and a person may edit the file: at the start of the daemon, and when ctxd asks.
 */
export class RecordedSettings implements Part {
  readonly name = 'settings';
  readonly management: Pick<Management, 'recordSettings'> = {
    recordSettings: async () => ({ changed: await this.#record() }),
  };
  readonly #deps: RecordedSettingsDeps;

  constructor(deps: RecordedSettingsDeps) {
    this.#deps = deps;
  }

  async start(): Promise<void> {
    await this.#record();
  }

  async stop(): Promise<void> {}

  /** Returns the keys that changed. */
  async #record(): Promise<string[]> {
    const { paths, database } = this.#deps;
    const config = acceptConfig(paths.configFile, await readConfigFile(paths));
    const defaults = acceptConfig(paths.configFile, {});
    const rows = await database.read('SELECT key, sha256 FROM recorded_settings');
    const recorded = new Map(rows.map((row) => [textOf(row, 'key'), textOf(row, 'sha256')]));
    const changed: string[] = [];
    for (const key of settingKeys()) {
      const value = readSetting(config, key);
      const sha256 = hashOf(value);
      if (sha256 === (recorded.get(key) ?? hashOf(readSetting(defaults, key)))) continue;
      const input = { key, value: shownValue(key, value) };
      await recordAct({ command: 'config set', input }, () => this.#keep(key, sha256), this.#deps);
      changed.push(key);
    }
    return changed;
  }

  async #keep(key: string, sha256: string): Promise<void> {
    await this.#deps.database.write([
      { sql: 'INSERT OR REPLACE INTO recorded_settings (key, sha256) VALUES (?, ?)', params: [key, sha256] },
    ]);
  }
}

function hashOf(value: Json): string {
  return createHash('sha256').update(JSON.stringify(value)).digest('hex');
}
