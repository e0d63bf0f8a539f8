import { ContextdError } from '../../core/errors.ts';
import { withClient } from '../client.ts';
import { defineCommand } from '../command.ts';
import { ensureRunning } from '../daemon/launch.ts';
import { describeHosts, describeLeftOut, describeRegistries, isEmpty } from '../mirrors/describe.ts';
import { offerMirrors } from '../mirrors/offer.ts';

/** Registries and certificates of the host, for the commands of every project. A repository cannot ask for one. */
export const networkMirrors = defineCommand({
  name: ['network', 'mirrors'],
  summary: 'Let commands use the registries and certificates that your package clients are configured for.',
  options: [
    { syntax: '--yes', help: 'do not ask' },
    { syntax: '--clear', help: 'withdraw them' },
  ],
  async run(context, args) {
    await ensureRunning(context);
    return withClient(context.paths, async (client) => {
      if (args.flag('clear')) {
        const nothing = { registries: [], certificates: [], ca_variables: [], private_hosts: [] };
        return { state: 'cleared', settings: await client.setHostNetwork(nothing), left_out: [] };
      }
      const { state, settings, left_out } = await offerMirrors(
        context,
        client,
        context.cwd,
        args.flag('yes') ? 'yes' : 'ask',
      );
      if (state === 'allowed' || state === 'none') return { state, settings, left_out };
      throw new ContextdError('CANCELLED', 'the registries and certificates were not handed in', {
        remedy: 'Answer yes, or pass --yes if nobody can be asked.',
      });
    });
  },
  view: ({ state, settings, left_out }) => ({
    kind: 'lines',
    lines: [
      ...(state === 'cleared' || isEmpty(settings)
        ? ['Commands use the public registries and the certificates of the system.']
        : [
            'Commands of every project use:',
            ...describeRegistries(settings),
            ...(settings.certificates.length === 0 ? [] : [`  ${settings.certificates.length} more certificates`]),
            ...describeHosts(settings).map((line) => `A permission for ${line.replace(':', ' includes')}`),
          ]),
      ...describeLeftOut(left_out),
    ],
  }),
});
