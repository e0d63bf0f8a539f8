import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { ConnectionFact, EgressEvent, Traffic, Via } from '../../egress/messages.ts';

const HOST_MAX_CHARS = 253;
const TEXT_MAX_CHARS = 1_000;
const SCOPE_MAX_CHARS = 10_000;
const CERTIFICATE_MAX_CHARS = 100_000;
const VIAS: readonly Via[] = ['connect', 'http', 'socks', 'direct', 'dns'];

/** The events of a message of the proxy process. */
export function readEvents(message: unknown): readonly EgressEvent[] {
  return Array.isArray(message) ? message.flatMap((one: unknown) => readEvent(one) ?? []) : [];
}

/**
 * An event of the proxy process, or null. The process parses what hostile programs send, so nothing but a well-formed
 * event of bounded size is believed.
 */
export function readEvent(message: unknown): EgressEvent | null {
  if (!isJsonObject(message)) return null;
  switch (message.ev) {
    case 'ready':
      return { ev: 'ready' };
    case 'connection': {
      const fact = readFact(message.fact);
      return fact === null ? null : { ev: 'connection', fact };
    }
    case 'closed': {
      const traffic = readTraffic(message.traffic);
      const why = textOf(message.why);
      return traffic === null || why === null ? null : { ev: 'closed', traffic, why };
    }
    case 'sent': {
      const { scope, host, bytes } = message;
      if (!isText(scope, SCOPE_MAX_CHARS) || !isText(host, HOST_MAX_CHARS) || !isCount(bytes)) return null;
      return { ev: 'sent', scope, host, bytes };
    }
    case 'unreported': {
      const { scope, count } = message;
      return isText(scope, SCOPE_MAX_CHARS) && isCount(count) ? { ev: 'unreported', scope, count } : null;
    }
    case 'synced': {
      if (!isCount(message.id) || !Array.isArray(message.open)) return null;
      return { ev: 'synced', id: message.id, open: message.open.flatMap((one) => readTraffic(one) ?? []) };
    }
    case 'authority':
      return readAuthority(message);
    case 'rejected': {
      const { scope, credential } = message;
      if (!isText(scope, SCOPE_MAX_CHARS) || !isText(credential)) return null;
      return { ev: 'rejected', scope, credential };
    }
    case 'log':
      return readLog(message);
    default:
      return null;
  }
}

function readFact(value: unknown): ConnectionFact | null {
  if (!isJsonObject(value)) return null;
  const { id, scope, namespace, lane, atMs, host, port, via, allowed, rule, why, isAllowable, isBindable } = value;
  const known = VIAS.find((one) => one === via);
  if (!isCount(id) || !isCount(atMs) || !isCount(port) || port > 65_535 || known === undefined) return null;
  if (!isText(scope, SCOPE_MAX_CHARS) || !isText(namespace) || !isText(host, HOST_MAX_CHARS) || !isText(why))
    return null;
  if (typeof allowed !== 'boolean' || typeof isAllowable !== 'boolean') return null;
  if ((lane !== null && !isText(lane)) || (rule !== null && !isText(rule))) return null;
  const fact = { id, scope, namespace, lane, atMs, host, port, via: known, allowed, rule, why, isAllowable };
  return isBindable === true ? { ...fact, isBindable } : fact;
}

function readTraffic(value: unknown): Traffic | null {
  if (!isJsonObject(value)) return null;
  const { id, up, down } = value;
  return isCount(id) && isCount(up) && isCount(down) ? { id, up, down } : null;
}

function readAuthority({ scope, certificate }: JsonObject): EgressEvent | null {
  if (!isText(scope, SCOPE_MAX_CHARS)) return null;
  if (certificate !== null && !isText(certificate, CERTIFICATE_MAX_CHARS)) return null;
  return { ev: 'authority', scope, certificate };
}

function readLog({ level, event, fields }: JsonObject): EgressEvent | null {
  if ((level !== 'info' && level !== 'warn') || !isText(event) || !isJsonObject(fields)) return null;
  return JSON.stringify(fields).length > TEXT_MAX_CHARS ? null : { ev: 'log', level, event, fields };
}

function textOf(value: unknown): string | null {
  return isText(value) ? value : null;
}

function isText(value: unknown, maxChars = TEXT_MAX_CHARS): value is string {
  return typeof value === 'string' && value.length <= maxChars;
}

/** A whole number from 0 on. */
function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0;
}
