import type { ProcFiles } from './proc-files.ts';

const [SYN_SENT, LISTEN] = ['02', '0A'];
/** Read of one table: about 1,700 sockets. What is further down is not described. */
const TABLE_MAX_BYTES = 256 * 1024;

/** True if the socket accepts connections over TCP. */
export function isListening(pid: number, inode: string, files: ProcFiles): boolean {
  return ['tcp', 'tcp6'].some((table) => tableRow(pid, table, inode, files)?.state === LISTEN);
}

/** What a process that waits on a socket waits for, from the tables of its network namespace. */
export function socketWords(pid: number, inode: string, files: ProcFiles): string {
  const find = (table: string) => tableRow(pid, table, inode, files);
  for (const table of ['tcp', 'tcp6']) {
    const row = find(table);
    if (row === null) continue;
    if (row.state === LISTEN) return `a connection to its port ${portOf(row.local)}`;
    const peer = addressOf(row.remote);
    return row.state === SYN_SENT ? `a connection to ${peer}` : `data from the network (${peer})`;
  }
  const isUdp = ['udp', 'udp6'].some((table) => find(table) !== null);
  return isUdp ? 'data from the network (UDP)' : 'data from a local socket';
}

function tableRow(pid: number, table: string, inode: string, files: ProcFiles): SocketRow | null {
  return rowOf(files.text(`/proc/${pid}/net/${table}`, TABLE_MAX_BYTES), inode);
}

interface SocketRow {
  readonly local: string;
  readonly remote: string;
  readonly state: string;
}

/** `0: 0100007F:0BB8 00000000:0000 0A …`: the tenth field is the inode. */
function rowOf(table: string, inode: string): SocketRow | null {
  for (const line of table.split('\n')) {
    if (!line.includes(inode)) continue;
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
