import { lookup } from 'node:dns/promises';
import { networkInterfaces } from 'node:os';
import { isJsonObject, type Json } from '../core/json.ts';
import { normalAddress } from './addresses.ts';
import { Egress } from './egress.ts';
import type { BridgeCommand, EgressCommand, EgressEvent } from './messages.ts';

/**
 * The proxy process of the network. Its parent sends commands and listeners over Node's IPC channel, and gets events. It
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

const egress = new Egress({
  emit,
  now: Date.now,
  resolve: async (name) => (await lookup(name, { all: true, order: 'verbatim' })).map(({ address }) => address),
  ownAddresses: () =>
    new Set(
      Object.values(networkInterfaces()).flatMap((interfaces) =>
        (interfaces ?? []).flatMap(({ address }) => normalAddress(address) ?? []),
      ),
    ),
});

process.on('disconnect', () => process.exit(0));
process.on('message', (message: Json, handle: unknown) => {
  if (isCommand(message)) egress.receive(message, handle);
});
emit({ ev: 'ready' });

function emit(event: EgressEvent): void {
  if (process.connected) process.send?.(event, () => {});
}

/** The parent is contextd itself and of the same version: the name of the command tells its fields. */
function isCommand(message: unknown): message is EgressCommand | BridgeCommand {
  return isJsonObject(message as Json) && Object.hasOwn(OPS, String((message as { op?: unknown }).op));
}
