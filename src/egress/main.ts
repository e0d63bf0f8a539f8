import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { isJsonObject, type Json } from '../core/json.ts';
import { normalAddress } from './addresses.ts';
import { Egress } from './egress.ts';
import type { BridgeCommand, EgressCommand, EgressEvent } from './messages.ts';

/**
 * The proxy process of the network. Its parent sends commands and listeners over Node's IPC channel, and gets lists of events. It
 * ends with its parent. An exception that nothing handles ends it as well: its parent starts it again, and it refuses
 * everything until it knows the rules.
 */
const OPS: Readonly<Record<(EgressCommand | BridgeCommand)['op'], true>> = {
  settings: true,
  policy: true,
  credentials: true,
  sent: true,
  sync: true,
  listener: true,
  datagrams: true,
  close: true,
};

/** Milliseconds for which the addresses of this machine are known: asking for them costs more than most of a connection. */
const OWN_ADDRESSES_MS = 1_000;
/** Milliseconds that the end of a connection waits for the next event, and how many wait: each message wakes two processes. */
const ENDS_WAIT_MS = 10;
const ENDS_MAX = 100;

const ownAddresses = { at: Number.NEGATIVE_INFINITY, known: new Set<string>() };
const unsent: EgressEvent[] = [];
let sendTimer: NodeJS.Timeout | undefined;

const egress = new Egress({
  emit,
  now: Date.now,
  resolve: async (name) => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address),
  ownAddresses: () => {
    const now = performance.now();
    if (now - ownAddresses.at >= OWN_ADDRESSES_MS) {
      const all = Object.values(networkInterfaces()).flatMap((interfaces) => interfaces ?? []);
      ownAddresses.known = new Set(all.flatMap(({ address }) => normalAddress(address) ?? []));
      ownAddresses.at = now;
    }
    return ownAddresses.known;
  },
});

process.on('disconnect', () => process.exit(0));
process.on('message', (message: Json, handle: unknown) => {
  if (isCommand(message)) egress.receive(message, handle);
});
emit({ ev: 'ready' });

/** Sends events in their order. All but a connection that ended by itself leave at once: the process could end at any time. */
function emit(event: EgressEvent): void {
  unsent.push(event);
  const canWait = event.ev === 'closed' && event.why === '' && unsent.length < ENDS_MAX;
  if (canWait) sendTimer ??= setTimeout(send, ENDS_WAIT_MS);
  else send();
}

function send(): void {
  clearTimeout(sendTimer);
  sendTimer = undefined;
  const events = unsent.splice(0);
  if (process.connected && events.length > 0) process.send?.(events, () => {});
}

/** The parent is contextd itself and of the same version: the name of the command tells its fields. */
function isCommand(message: unknown): message is EgressCommand | BridgeCommand {
  return isJsonObject(message as Json) && Object.hasOwn(OPS, String((message as { op?: unknown }).op));
}
