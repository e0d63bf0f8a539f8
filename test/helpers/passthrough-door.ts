import { StreamableHTTPClientTransport, type Transport } from '@modelcontextprotocol/client';
import { CTXD, type Installation, install, ROOT } from './installation.ts';
import { ERAS, type Era, stdioTransport } from './mcp-client.ts';

export type Way = 'HTTP' | 'stdio';

/** An installation whose surface passthrough clients reach in both ways. */
export interface PassthroughDoor {
  readonly at: Installation;
  /** Of the HTTP API. */
  readonly url: string;
  /** For the calls of the project. */
  readonly token: string;
  /** Runs `ctxd` and returns what it printed. Throws if it fails. */
  ctxd(...words: string[]): Promise<string>;
  /** Adds an MCP server from a file of this directory. */
  addServer(name: string, directory: string, file: string, ...args: string[]): Promise<void>;
  /** A token that may call. */
  makeToken(name: string, ...more: string[]): Promise<string>;
  /** Of a new client. */
  transport(way: Way): Transport;
  /** Over HTTP; without a token with that of the door. */
  httpTransport(token?: string): StreamableHTTPClientTransport;
}

export const PASSTHROUGH_PATH = '/mcp?surface=passthrough';
/** Words of `ctxd mcp serve`. */
export const PASSTHROUGH_WORDS = ['--surface', 'passthrough'];
/** Servers that are programs of the tests. */
export const SERVERS = `${ROOT}/test/fixtures/mcp-servers`;
export const WAYS: readonly Way[] = ['HTTP', 'stdio'];
/** Each with the revisions of its clients. */
export const WAYS_AND_ERAS = WAYS.flatMap((way) => ERAS.map((era): [Way, Era] => [way, era]));

/** `name`: of its token. */
export async function openPassthrough(name: string): Promise<PassthroughDoor> {
  const at = await install({ warm: true });
  const ctxd = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await at.run(CTXD, words);
    if (code !== 0) throw new Error(`ctxd ${words.join(' ')}: ${stderr}${stdout}`);
    return stdout.trim();
  };
  const makeToken = (tokenName: string, ...more: string[]): Promise<string> =>
    ctxd('http', 'token', '--name', tokenName, '--allow', 'execute', '--project', at.project, ...more);
  const own = await makeToken(name);
  const url = await ctxd('http', 'url');
  const httpTransport = (token = own): StreamableHTTPClientTransport => {
    const requestInit = { headers: { authorization: `Bearer ${token}` } };
    return new StreamableHTTPClientTransport(new URL(`${url}${PASSTHROUGH_PATH}`), { requestInit });
  };
  return {
    at,
    url,
    token: own,
    ctxd,
    makeToken,
    async addServer(server, directory, file, ...args) {
      await ctxd('upstream', 'add', server, '--path', directory, '--yes', '--', 'node', file, ...args);
    },
    transport: (way) => (way === 'stdio' ? stdioTransport(at, PASSTHROUGH_WORDS) : httpTransport()),
    httpTransport,
  };
}
