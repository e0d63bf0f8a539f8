import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { isJsonObject } from '../../core/json.ts';

/** Bytes at the end of a transcript in which the last messages are looked for. */
const TAIL_BYTES = 1024 * 1024;

/** What a person asked last, and what the agent wrote last. "" for what is not found. */
interface LastMessages {
  user: string;
  agent: string;
}

/** Reads the end of a conversation that Claude Code writes as JSON lines. Never throws. */
export async function lastMessages(file: string): Promise<LastMessages> {
  const found: LastMessages = { user: '', agent: '' };
  for (const line of (await tailOf(file)).split('\n').reverse()) {
    const message = messageIn(line);
    if (message?.role === 'user' && found.user === '') found.user = message.text;
    if (message?.role === 'assistant' && found.agent === '') found.agent = message.text;
    if (found.user !== '' && found.agent !== '') break;
  }
  return found;
}

/** Without the first line if that is only the end of one. */
async function tailOf(file: string): Promise<string> {
  if (!file.startsWith('/') || !file.endsWith('.jsonl')) return '';
  try {
    // Who names the file decides what it is: to open a pipe would wait for its writer.
    const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (!found.isFile()) return '';
      const { size } = found;
      const start = Math.max(0, size - TAIL_BYTES);
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(size - start), 0, size - start, start);
      const text = buffer.subarray(0, bytesRead).toString('utf8');
      return start === 0 ? text : text.slice(text.indexOf('\n') + 1);
    } finally {
      await handle.close();
    }
  } catch {
    return '';
  }
}

/** What the client itself writes in the name of a person, such as a command that it ran. */
const OWN_WORDS = /^<(?:command|local-command|system)-/;

/** Null for what is no message of the two: a result of a tool, a note of the client, a message of a subagent. */
function messageIn(line: string): { role: string; text: string } | null {
  try {
    const entry: unknown = JSON.parse(line);
    if (!isJsonObject(entry) || entry.isMeta === true || entry.isSidechain === true) return null;
    if (entry.isCompactSummary === true || !isJsonObject(entry.message)) return null;
    const { role, content } = entry.message;
    const text = textOf(content).trim();
    // A request to the model is kept as an entry of another type, with a message of the same shape.
    if (role !== entry.type || OWN_WORDS.test(text)) return null;
    return typeof role === 'string' && text !== '' ? { role, text } : null;
  } catch {
    return null;
  }
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.map((block: unknown) =>
    isJsonObject(block) && block.type === 'text' && typeof block.text === 'string' ? block.text : '',
  );
  return texts.filter((text) => text !== '').join('\n');
}
