import type { EndedCall } from '../../call/ended-call.ts';
import type { Figures } from '../../call/live.ts';
import type { HealthCheck } from '../../call/management.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { readSource, type SourceEnvironment } from '../../config/credential-source.ts';
import type { Config } from '../../config/schema.ts';
import type { Clock } from '../../core/clock.ts';
import { within } from '../../core/deadline.ts';
import type { Part } from '../../core/lifecycle.ts';
import type { Logger } from '../../core/log.ts';
import { shownAddress } from '../../core/shown-address.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { DeriveKey } from '../../stores/keys.ts';
import { Delivery } from './delivery.ts';
import type { OpenSdk } from './sdk.ts';

interface TelemetryDeps {
  readonly config: Config['telemetry'];
  readonly environment: SourceEnvironment;
  readonly catalog: Pick<Catalog, 'versions'>;
  readonly keys: { readonly derive: DeriveKey };
  readonly clock: Clock;
  readonly logger: Logger;
  figures(): Figures;
}

/** Milliseconds that the collector gets for what is left when the daemon stops. */
const CLOSE_MS = 1_000;

/** Null if no collector is configured: nothing of it is then loaded. */
export function buildTelemetry(deps: TelemetryDeps): Telemetry | null {
  const { otlp_url: url } = deps.config;
  return url === null ? null : new Telemetry(url, deps);
}

/** Sends traces and metrics of the calls to a collector. No call waits for it. */
export class Telemetry implements Part {
  readonly name = 'telemetry';
  readonly #url: string;
  readonly #deps: TelemetryDeps;
  readonly #delivery: Delivery;
  #sdk: OpenSdk | null = null;

  constructor(url: string, deps: TelemetryDeps) {
    this.#url = url;
    this.#deps = deps;
    this.#delivery = new Delivery({ ...deps, place: shownAddress(url) });
  }

  async start(): Promise<void> {
    const { config, figures, catalog, keys, clock } = this.#deps;
    const { openSdk } = await import('./sdk.ts');
    this.#sdk = openSdk({
      url: this.#url,
      version: PACKAGE_VERSION,
      metricsMs: config.metrics_seconds * 1000,
      delivery: this.#delivery,
      headers: () => this.#headers(),
      figures,
      now: () => clock.now(),
      isTool: (name) => catalog.versions(name).length > 0,
      projectName: (root) => keys.derive('telemetry', root).toString('hex').slice(0, 16),
    });
  }

  async stop(): Promise<void> {
    const sdk = this.#sdk;
    this.#sdk = null;
    if (sdk !== null) await within(CLOSE_MS, sdk.close(), () => {});
  }

  readonly ended = (call: EndedCall): void => this.#sdk?.ended(call);

  check(): Omit<HealthCheck, 'name'> {
    const { place, fault, sentMs, dropped } = this.#delivery.state();
    const last = sentMs === null ? 'nothing was sent yet' : `last sent ${new Date(sentMs).toISOString()}`;
    const lost = dropped === 0 ? '' : `; ${dropped} calls have no trace, because too much waited`;
    if (fault === null) return { status: 'ok', detail: `${place}: ${last}${lost}`, remedy: '' };
    const remedy = 'Check telemetry in the configuration, and the collector. The daemon tries again by itself.';
    return { status: 'warn', detail: `${place} ${fault}; ${last}${lost}`, remedy };
  }

  async #headers(): Promise<Record<string, string>> {
    const { config, environment } = this.#deps;
    if (config.otlp_token_file === null) return {};
    const token = await readSource({ kind: 'file', path: config.otlp_token_file }, '', environment);
    return { authorization: `Bearer ${token}` };
  }
}
