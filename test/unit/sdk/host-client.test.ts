import { describe, expect, it } from 'vitest';
import { loadPluginProtocol } from '#src/protocol/plugin/load-plugin-protocol.js';
import { HostClient } from '#src/sdk/host-client.js';

describe('the way from a tool to its host', () => {
  it('FR-8.1 is asked for at once: the broker forgets what nobody asked for', () => {
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

  it('that cannot be had fails the request that needs it, and nothing before', async () => {
    const host = new HostClient(7, { dial: () => Promise.reject(new Error('not announced')) }, loadPluginProtocol());
    await new Promise(setImmediate);
    await expect(host.scrub('call', ['text'])).rejects.toThrow('not announced');
  });
});
