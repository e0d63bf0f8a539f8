import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Lesson } from './lessons.ts';
import { findPeer, peerModule } from './peers.ts';

/** Another store of memories, filled with lessons. */
export interface MemoryPeer {
  search(query: string, limit: number): Promise<unknown>;
  store(lesson: Lesson): Promise<unknown>;
  stop(): Promise<void>;
}

export interface MemoryPeerKind {
  readonly name: string;
  /** Why it cannot be measured; null if it can. */
  readonly missing: string | null;
  /** `dir` is an empty directory. */
  open(lessons: readonly Lesson[], dir: string): Promise<MemoryPeer>;
}

/** What is used of the package. */
interface Lance {
  connect(dir: string): Promise<{ createTable(name: string, rows: object[]): Promise<LanceTable> }>;
  Index: { fts(): unknown };
}
interface LanceTable {
  createIndex(column: string, options: { config: unknown }): Promise<void>;
  add(rows: object[]): Promise<unknown>;
  search(query: string, type: 'fts', column: string): { limit(count: number): { toArray(): Promise<unknown[]> } };
  close(): void;
}

/** LanceDB in this process, with its full-text index. */
export const lancedb: MemoryPeerKind = {
  name: 'LanceDB, full text',
  missing: findPeer('lancedb').missing,
  async open(lessons, dir) {
    const lance: Lance = await import(peerModule('lancedb', 'dist/index.js'));
    const table = await (await lance.connect(dir)).createTable('memories', lessons.map(rowOf));
    await table.createIndex('text', { config: lance.Index.fts() });
    return {
      search: (query, limit) => table.search(query, 'fts', 'text').limit(limit).toArray(),
      store: (lesson) => table.add([rowOf(lesson, lessons.length)]),
      stop: async () => table.close(),
    };
  },
};

function rowOf({ title, description, content }: Lesson, id: number): object {
  return { id, title, text: `${title}\n${description}\n${content}` };
}

/** The memory server of the MCP project over stdio: a graph in a file, searched for a part of a text. */
export const serverMemory: MemoryPeerKind = {
  name: 'server-memory (MCP), one word',
  missing: findPeer('serverMemory').missing,
  async open(lessons, dir) {
    mkdirSync(dir, { recursive: true });
    const file = join(dir, 'memory.jsonl');
    writeFileSync(
      file,
      lessons.map((lesson, id) => JSON.stringify({ type: 'entity', ...entityOf(lesson, id) })).join('\n'),
    );
    const server = await StdioServer.start(peerModule('serverMemory', 'dist/index.js'), { MEMORY_FILE_PATH: file });
    let last = lessons.length;
    return {
      // Several words find nothing: they are looked for as they stand.
      search: (query) => server.call('search_nodes', { query: query.split(' ')[0] ?? '' }),
      store: (lesson) => server.call('create_entities', { entities: [entityOf(lesson, last++)] }),
      stop: () => server.stop(),
    };
  },
};

function entityOf({ title, description, content }: Lesson, id: number): object {
  return { name: `${id} ${title}`, entityType: 'lesson', observations: [description, content] };
}

/** An MCP server as a process: JSON-RPC, one message on each line. */
class StdioServer {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (message: { result?: unknown; error?: unknown }) => void>();
  #last = 0;

  private constructor(child: ChildProcess) {
    this.#child = child;
    if (child.stdout === null) throw new Error('the server has no output');
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message: { id?: number; result?: unknown; error?: unknown } = JSON.parse(line);
      this.#waiting.get(message.id ?? -1)?.(message);
    });
  }

  static async start(program: string, env: Record<string, string>): Promise<StdioServer> {
    const server = new StdioServer(spawn(process.execPath, [program], { env, stdio: ['pipe', 'pipe', 'ignore'] }));
    await server.#ask('initialize', {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'bench', version: '1' },
    });
    server.#send({ method: 'notifications/initialized' });
    return server;
  }

  call(name: string, args: object): Promise<unknown> {
    return this.#ask('tools/call', { name, arguments: args });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await once(this.#child, 'exit');
  }

  #ask(method: string, params: object): Promise<unknown> {
    const id = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, ({ result, error }) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve(result);
        else reject(new Error(JSON.stringify(error)));
      });
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  }
}
