import fc from 'fast-check';
import { PROPERTY_SEED, propertyRuns } from './property-runs.ts';

// Runs before each file. Files share a worker and its fast-check, so a file must not change these for those after it.
fc.configureGlobal({ seed: PROPERTY_SEED, numRuns: propertyRuns() });
