import { readFileSync } from 'node:fs';
import { isErrno } from '../core/errors.ts';

const [SYN_SENT, LISTEN] = ['02', '0A'];

/** True if the socket accepts connections over TCP. */
export function isListening(pid: number, inode: string): boolean {
  return ['tcp', 'tcp6'].some((table) => rowOf(pid, table, inode)?.state === LISTEN);
}

/** What a process that waits on a socket waits for, from the tables of its network namespace. */
export function socketWords(pid: number, inode: string): string {
  for (const table of ['tcp', 'tcp6']) {
    const row = rowOf(pid, table, inode);
    if (row === null) continue;
    if (row.state === LISTEN) return `a connection to its port ${portOf(row.local)}`;
    const peer = addressOf(row.remote);
    return row.state === SYN_SENT ? `a connection to ${peer}` : `data from the network (${peer})`;
  }
  const isUdp = ['udp', 'udp6'].some((table) => rowOf(pid, table, inode) !== null);
  return isUdp ? 'data from the network (UDP)' : 'data from a local socket';
}

interface SocketRow {
  readonly local: string;
  readonly remote: string;
  readonly state: string;
}

/** `0: 0100007F:0BB8 00000000:0000 0A …`: the tenth field is the inode. */
function rowOf(pid: number, table: string, inode: string): SocketRow | null {
  for (const line of read(`/proc/${pid}/net/${table}`).split('\n')) {
    const fields = line.trim().split(/\s+/);
    const [, local = '', remote = '', state = ''] = fields;
    if (fields[9] === inode) return { local, remote, state };
  }
  return null;
}

function portOf(address: string): number {
  return Number.parseInt(address.slice(address.indexOf(':') + 1), 16);
}

/** The kernel prints an IPv4 address as one number in the byte order of the machine. */
function addressOf(address: string): string {
  const [host = ''] = address.split(':');
  const port = portOf(address);
  if (host.length !== 8) return `port ${port} over IPv6`;
  const bytes = [...Buffer.from(host, 'hex')].reverse();
  return `${bytes.join('.')}:${port}`;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1');
  } catch (cause) {
    if (isErrno(cause)) return '';
    throw cause;
  }
}
