import type { ShipPlace } from '../../../audit/shipped.ts';
import { isErrno } from '../../../core/errors.ts';
import { isJsonObject } from '../../../core/json.ts';
import type { Destination, ShippedHead } from './destination.ts';

export interface OtlpDeps {
  readonly place: ShipPlace;
  /** With the path, such as /v1/logs. */
  readonly url: string;
  /** The name of this machine. */
  readonly host: string;
  readonly version: string;
  /** Read at each request. Null: the collector asks for none. */
  token(): Promise<string | null>;
}

const ANSWER_MAX_BYTES = 64 * 1024;
/** SeverityNumber of the log data model: INFO. */
const INFO = 9;

/** A collector that takes logs of OpenTelemetry as JSON over HTTP (OTLP 1.x). The body of the log record is the head. */
export function otlpDestination(deps: OtlpDeps): Destination {
  return {
    place: deps.place,
    async send(head, signal) {
      const token = await deps.token();
      const answer = await post(deps.url, JSON.stringify(requestOf(head, deps)), token, signal);
      if (!answer.ok) {
        await answer.body?.cancel();
        throw new Error(`answered ${answer.status}`);
      }
      const rejected = rejectedIn(await boundedText(answer));
      if (rejected > 0) throw new Error('rejected the record');
    },
  };
}

async function post(url: string, body: string, token: string | null, signal: AbortSignal): Promise<Response> {
  const authorization = token === null ? {} : { authorization: `Bearer ${token}` };
  try {
    return await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...authorization },
      body,
      // The token is for this address only.
      redirect: 'error',
      signal,
    });
  } catch (thrown) {
    const cause = thrown instanceof Error ? thrown.cause : undefined;
    throw new Error(isErrno(cause) ? `cannot be reached (${cause.code})` : 'did not answer');
  }
}

/** ExportLogsServiceRequest. 64-bit numbers are strings in JSON. */
function requestOf({ line, seq, timeMs }: ShippedHead, { host, version }: OtlpDeps): object {
  const nanos = `${timeMs}000000`;
  const text = (key: string, stringValue: string) => ({ key, value: { stringValue } });
  const resource = { attributes: [text('service.name', 'contextd'), text('host.name', host)] };
  const record = {
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber: INFO,
    severityText: 'INFO',
    eventName: 'contextd.audit.head',
    body: { stringValue: line },
    attributes: [{ key: 'contextd.audit.seq', value: { intValue: String(seq) } }],
  };
  return { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: 'contextd', version }, logRecords: [record] }] }] };
}

function rejectedIn(text: string): number {
  try {
    const answer: unknown = JSON.parse(text);
    const partial = isJsonObject(answer) && isJsonObject(answer.partialSuccess) ? answer.partialSuccess : {};
    return Number(partial.rejectedLogRecords ?? 0);
  } catch {
    return 0;
  }
}

async function boundedText(answer: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of answer.body ?? []) {
    bytes += chunk.length;
    if (bytes > ANSWER_MAX_BYTES) throw new Error('answered too much');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
