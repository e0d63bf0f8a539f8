import type { RemoteInfo, Socket } from 'node:dgram';
import { answerQuestion, DNS_TYPE_A, type DnsQuestion, readQuestion, refuseQuestion } from './dns.ts';
import type { Asker, Gate } from './gate.ts';
import type { SyntheticNames } from './synthetic-names.ts';

const DNS_TYPE_PTR = 12;
/** Refused look-ups that are remembered, so that a repeated question is reported once. */
const REMEMBERED_MAX = 256;
const LOOPBACK = '127.0.0.1';

/**
 * The DNS of a namespace. It answers for allowed names, with addresses of its own, and asks nobody: a question carries
 * nothing out.
 */
export class NameService {
  readonly #gate: Gate;
  readonly #asker: Asker;
  readonly #names: SyntheticNames;
  readonly #refused = new Set<string>();

  constructor(gate: Gate, asker: Asker, names: SyntheticNames) {
    this.#gate = gate;
    this.#asker = asker;
    this.#names = names;
  }

  serve(socket: Socket): void {
    socket.on('message', (datagram: Buffer, from: RemoteInfo) => {
      const question = readQuestion(datagram);
      if (question !== null) socket.send(this.#answer(question, from), from.port, from.address, () => {});
    });
  }

  #answer(question: DnsQuestion, from: RemoteInfo): Buffer {
    const name = question.name.toLowerCase();
    // Names of loopback itself (RFC 6761), and the reverse look-ups that some programs make of every address.
    if (name === 'localhost' || name.endsWith('.localhost'))
      return answerQuestion(question, question.type === DNS_TYPE_A ? LOOPBACK : null);
    if (question.type === DNS_TYPE_PTR) return refuseQuestion(question);
    const allowed = this.#allowedName(name, from);
    if (allowed === null) return refuseQuestion(question);
    return answerQuestion(question, question.type === DNS_TYPE_A ? this.#names.addressOf(allowed) : null);
  }

  /** Reported once for the questions of one look-up: they have the same name and come from the same port. */
  #allowedName(name: string, { port }: RemoteInfo): string | null {
    const look = `${port} ${name}`;
    if (this.#refused.has(look) && !this.#gate.isNameAllowed(this.#asker.scope, name)) return null;
    const screening = this.#gate.screen({ ...this.#asker, host: name, port: 0, via: 'dns' });
    if (screening.name !== null) return screening.name;
    this.#refused.add(look);
    const [oldest] = this.#refused;
    if (oldest !== undefined && this.#refused.size > REMEMBERED_MAX) this.#refused.delete(oldest);
    return null;
  }
}
