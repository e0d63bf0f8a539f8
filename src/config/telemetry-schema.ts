import { optional, section, whole } from './schema-parts.ts';
import { SERVER_URL } from './server-url.ts';

export const TELEMETRY_SCHEMA = section('Traces and metrics for an OpenTelemetry collector (docs/reliability.md).', {
  otlp_url: optional(
    SERVER_URL,
    'The address of the collector, such as https://collector.example.com; http only on this machine. /v1/traces and /v1/metrics are appended. null: nothing is sent.',
  ),
  otlp_token_file: optional(
    '^/[^\\0]+$',
    'The file that holds nothing but the bearer token of the collector. null: it asks for none.',
  ),
  metrics_seconds: whole(60, 1, 3_600, 'Seconds after which the metrics are sent again.'),
});
