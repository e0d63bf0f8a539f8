import { describe, expect, it } from 'vitest';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { HostClient } from '#src/sdk/host-client.js';

describe("a tool's connection to its host", () => {
  it('FR-8.1 is requested at once: the broker forgets unclaimed connections', () => {
    const asked: number[] = [];
    const broker = {
      dial(id: number) {
        asked.push(id);
        return new Promise<never>(() => {});
      },
    };
    new HostClient(7, broker, loadPluginProtocol());
    expect(asked).toEqual([7]);
  });

  it('fails only the request that needs it if it cannot be made', async () => {
    const host = new HostClient(7, { dial: () => Promise.reject(new Error('not announced')) }, loadPluginProtocol());
    await new Promise(setImmediate);
    await expect(host.scrub('call', ['text'])).rejects.toThrow('not announced');
  });
});
