import { ContextdError, type Tool } from '@contextd/sdk';
import schema from './schema.json' with { type: 'json' };

/** What schema.json describes. contextd has checked it. */
interface Input {
  city: string;
}

/** Latitude and longitude in degrees. */
const CITIES = new Map([
  ['Oslo', [59.91, 10.75]],
  ['Nairobi', [-1.29, 36.82]],
  ['São Paulo', [-23.55, -46.63]],
]);

export const tool: Tool<Input> = {
  name: 'tool_name',
  schema,
  execute(_context, { city }) {
    const place = CITIES.get(city);
    if (place === undefined) {
      const known = [...CITIES.keys()].join(', ');
      throw new ContextdError('NOT_FOUND', `there is no city ${city}`, { remedy: `Ask for one of these: ${known}.` });
    }
    const [latitude, longitude] = place;
    return { data: { city, latitude, longitude } };
  },
};
