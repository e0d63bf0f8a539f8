import { type ExportResult, ExportResultCode } from '@opentelemetry/core';
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  MeterProvider,
  type MetricProducer,
  PeriodicExportingMetricReader,
  type ResourceMetrics,
} from '@opentelemetry/sdk-metrics';
import { BatchSpanProcessor, type ReadableSpan, TracerProvider } from '@opentelemetry/sdk-trace';
import type { EndedCall } from '../../call/ended-call.ts';
import type { Figures } from '../../call/live.ts';
import type { Delivery } from './delivery.ts';
import { metricsOf, OTHER_TOOL } from './metrics.ts';
import { traceCall } from './spans.ts';

export interface SdkDeps {
  /** Without a path of a signal. */
  readonly url: string;
  readonly version: string;
  readonly metricsMs: number;
  readonly delivery: Delivery;
  /** Read at each request. Throws if they cannot be read. */
  headers(): Promise<Record<string, string>>;
  figures(): Figures;
  now(): number;
  isTool(name: string): boolean;
  /** A name of the project that shows nothing of its path. */
  projectName(root: string): string;
}

export interface OpenSdk {
  ended(call: EndedCall): void;
  /** Sends what is left. */
  close(): Promise<void>;
}

/** Spans that wait for the collector: some hundred calls, a few MiB. The calls beyond are dropped. */
const SPANS_MAX = 8_192;
const BATCH_MAX = 512;
const BATCH_MS = 1_000;
const SEND_MS = 10_000;

/** Opens the exporters. Holds all code of OpenTelemetry: imported only if a collector is configured. */
export function openSdk(deps: SdkDeps): OpenSdk {
  const { delivery, version, metricsMs, isTool } = deps;
  const resource = resourceFromAttributes({ 'service.name': 'contextd', 'service.version': version });
  let waiting = 0;
  const spanExporter = new (class extends OTLPTraceExporter {
    override export(spans: ReadableSpan[], done: (result: ExportResult) => void): void {
      super.export(spans, (result) => {
        waiting -= spans.length;
        note(result, delivery);
        done(result);
      });
    }
  })(exporterOptions(deps, 'traces'));
  const metricExporter = new (class extends OTLPMetricExporter {
    override export(metrics: ResourceMetrics, done: (result: ExportResult) => void): void {
      super.export(metrics, (result) => {
        note(result, delivery);
        done(result);
      });
    }
  })(exporterOptions(deps, 'metrics'));
  const spanProcessors = [
    new BatchSpanProcessor({
      exporter: spanExporter,
      maxQueueSize: SPANS_MAX,
      maxExportBatchSize: BATCH_MAX,
      scheduledDelayMillis: BATCH_MS,
    }),
  ];
  const tracing = new TracerProvider({ resource, spanProcessors });
  const metricProducers = [producerOf(deps, resource)];
  const reader = new PeriodicExportingMetricReader({
    exporter: metricExporter,
    exportIntervalMillis: metricsMs,
    exportTimeoutMillis: Math.min(metricsMs, SEND_MS),
    metricProducers,
  });
  const metering = new MeterProvider({ resource, readers: [reader] });
  const tracer = tracing.getTracer('contextd', version);
  return {
    ended(call) {
      const spans = Object.keys(call.times).length + 1;
      if (waiting + spans > SPANS_MAX) return delivery.dropped();
      waiting += traceCall(
        tracer,
        call,
        isTool(call.tool) ? call.tool : OTHER_TOOL,
        deps.projectName(call.projectRoot),
      );
    },
    async close() {
      await Promise.allSettled([tracing.shutdown(), metering.shutdown()]);
    },
  };
}

function exporterOptions({ url, delivery, headers }: SdkDeps, signal: 'traces' | 'metrics') {
  return {
    url: `${url.replace(/\/$/, '')}/v1/${signal}`,
    timeoutMillis: SEND_MS,
    // One batch is sent at a time, and the next one begins before the exporter counts the last as done.
    concurrencyLimit: 2,
    headers: () =>
      headers().catch((thrown: unknown) => {
        delivery.failed(thrown);
        return {};
      }),
  };
}

function note({ code, error }: ExportResult, delivery: Delivery): void {
  if (code === ExportResultCode.SUCCESS) delivery.succeeded();
  else delivery.failed(error);
}

function producerOf({ figures, now, isTool, version }: SdkDeps, resource: ResourceMetrics['resource']): MetricProducer {
  return {
    async collect() {
      const metrics = metricsOf(figures(), now(), isTool);
      const scopeMetrics = [{ scope: { name: 'contextd', version }, metrics }];
      return { resourceMetrics: { resource, scopeMetrics }, errors: [] };
    },
  };
}
