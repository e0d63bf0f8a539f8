import { ALNUM, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'slack-token': {
    match: [
      '«xoxb-[0-9]{11}-[0-9]{11}-[A-Za-z0-9]{24}»',
      '«xoxp-[0-9]{11}-[0-9]{11}-[0-9]{11}-[0-9a-f]{32}»',
      '«xoxe.xoxp-1-[A-Za-z0-9]{60}»',
    ],
    clean: ['xoxb-...', 'xoxb-token'],
  },
  'slack-app-token': { match: ['«xapp-1-A[A-Z0-9]{10}-[0-9]{13}-[a-f0-9]{64}»'], clean: ['xapp-1-AAA-1-b'] },
  'slack-webhook': {
    match: [`«https://hooks.slack.com/services/T[A-Z0-9]{8}/B[A-Z0-9]{8}/${ALNUM}{24}»`],
    clean: ['https://hooks.slack.com/services/', 'https://api.slack.com/messaging/webhooks'],
  },
  'discord-bot-token': {
    match: [`discord «M${URL64}{23}.${URL64}{6}.${URL64}{27}»`],
    clean: ['Most.things.matter', 'a bot of Node.module.name'],
  },
  'discord-webhook': {
    match: [`https://discord.com/api/webhooks/[0-9]{18}/«${URL64}{68}»`],
    clean: ['https://discord.com/api/webhooks/123'],
  },
  'telegram-bot-token': { match: [`bot «[0-9]{9}:AA${URL64}{33}»`], clean: ['12:AA:00', '[0-9]{9}:AA'] },
  'teams-webhook': {
    match: [`https://acme.webhook.office.com/webhookb2/«${UUID}@${UUID}/IncomingWebhook/${HEX}{32}/${UUID}»`],
    clean: ['https://acme.webhook.office.com/webhookb2/'],
  },
};
