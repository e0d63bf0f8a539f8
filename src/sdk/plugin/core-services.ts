import { type ServiceError, status } from '@grpc/grpc-js';
import type { HealthHandlers } from '../../protocol/generated/grpc/health/v1/Health.ts';
import { _grpc_health_v1_HealthCheckResponse_ServingStatus as ServingStatus } from '../../protocol/generated/grpc/health/v1/HealthCheckResponse.ts';
import type { GRPCBrokerHandlers } from '../../protocol/generated/plugin/GRPCBroker.ts';
import type { GRPCControllerHandlers } from '../../protocol/generated/plugin/GRPCController.ts';
import type { GRPCStdioHandlers } from '../../protocol/generated/plugin/GRPCStdio.ts';
import { HEALTH_SERVICE } from '../../protocol/plugin/environment.ts';
import type { PluginBroker } from './plugin-broker.ts';
import type { StdioStream } from './stdio-stream.ts';

/** What every plugin serves beside its own services. */

export function createHealth(): HealthHandlers {
  return {
    Check({ request }, respond) {
      if (isKnown(request.service)) respond(null, { status: ServingStatus.SERVING });
      else respond({ code: status.NOT_FOUND, details: 'unknown service' });
    },
    Watch(call) {
      call.write({ status: isKnown(call.request.service) ? ServingStatus.SERVING : ServingStatus.SERVICE_UNKNOWN });
    },
  };
}

export function createBrokerService(broker: PluginBroker): GRPCBrokerHandlers {
  return {
    StartStream(stream) {
      if (!broker.attach(stream)) stream.emit('error', taken('the broker has its stream'));
    },
  };
}

export function createController(onShutdown: () => void): GRPCControllerHandlers {
  return {
    Shutdown(_call, respond) {
      respond(null, {});
      onShutdown();
    },
  };
}

export function createStdioService(stdio: StdioStream): GRPCStdioHandlers {
  return {
    StreamStdio(call) {
      if (!stdio.attach(call)) call.emit('error', taken('the output is already being read'));
    },
  };
}

function taken(details: string): Partial<ServiceError> {
  return { code: status.FAILED_PRECONDITION, details };
}

function isKnown(service: string): boolean {
  return service === HEALTH_SERVICE || service === '';
}
