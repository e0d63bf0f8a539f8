import { describe, expect, it } from 'vitest';
import { silentLogger } from '#src/core/log.js';
import { createPortManagement, listeningPorts } from '#src/features/ports/management.js';
import { forRegistered } from '#src/features/projects/require-project.js';
import { UnavailableSandbox } from '#src/sandbox/client/create-sandbox.js';

const HEADER = '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n';
const rest = '00000000:00000000 00:00000000 00000000  1000        0 1 1 0000000000000000 100 0 0 10 0';

describe('what listens on a loopback', () => {
  it('is read from the tables of the kernel: listening sockets only, each address once, by port', () => {
    const text =
      `${HEADER}   0: 0100007F:0BB8 00000000:0000 0A ${rest}\n` +
      `   1: 0100007F:0BB8 0100007F:A2C4 01 ${rest}\n` +
      `   2: 00000000:0050 00000000:0000 0A ${rest}\n` +
      `   3: 0100007F:0BB8 00000000:0000 0A ${rest}\n` +
      `${HEADER}   0: 00000000000000000000000001000000:0BB8 00000000000000000000000000000000:0000 0A ${rest}\n` +
      `   1: 00000000000000000000000000000000:1F90 00000000000000000000000000000000:0000 0A ${rest}\n` +
      `  12: B80D01200000000067452301EFCDAB89:1F91 00000000000000000000000000000000:0000 0A ${rest}\n`;
    expect(listeningPorts(text)).toEqual([
      { port: 80, address: '0.0.0.0' },
      { port: 3000, address: '::1' },
      { port: 3000, address: '127.0.0.1' },
      { port: 8080, address: '::' },
      { port: 8081, address: '2001:0db8:0000:0000:0123:4567:89ab:cdef' },
    ]);
    expect(listeningPorts('cat: /proc/net/tcp: No such file\n')).toEqual([]);
  });
});

describe('a port of a project whose commands share no loopback', () => {
  it('is refused with the reason and the remedy, and an unregistered project before that', async () => {
    const deps = {
      sandbox: new UnavailableSandbox('no isolation here', 'Use Linux.'),
      policyFor: () => Promise.reject(new Error('no policy is needed')) as never,
      privateSocketsDir: '/nowhere',
      logger: silentLogger,
    };
    const { listPorts, openPort } = createPortManagement(deps);
    const known = { find: async (root: string) => ({ root, tools: [], registeredAt: 0 }) };
    const request = { root: '/p', port: 3000 };
    await expect(forRegistered('openPort', openPort, known)(request)).rejects.toMatchObject({
      code: 'SANDBOX_UNAVAILABLE',
      message: expect.stringContaining('no isolation here'),
      remedy: 'Use Linux.',
    });
    const unknown = { find: async () => null };
    await expect(forRegistered('listPorts', listPorts, unknown)({ root: '/p' })).rejects.toMatchObject({
      code: 'NOT_FOUND',
    });
  });
});
