import { ALNUM, B64, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'bitwarden-access-token': { match: [`BWS «0.${UUID}.${ALNUM}{30}:${B64}{22}==»`], clean: ['0.x:==', `0.${UUID}.x`] },
  'browserbase-key': { match: [`«bb_live_${ALNUM}{27}»`], clean: ['bb_live_debug'] },
  'cloudflare-scannable-token': {
    match: [`«cfut_${ALNUM}{40}${HEX}{8}»`, `«cfat_${ALNUM}{40}${HEX}{8}»`, `x-«cfk_${ALNUM}{40}${HEX}{8}»`],
    clean: ['cfut_dir', 'cfk_name'],
  },
  'firecrawl-key': { match: [`key «fc-${HEX}{32}» x`], clean: ['fc-list', `dfc-${HEX}{32}`] },
  'google-ai-studio-key': { match: [`«AQ.Ab8RN6${URL64}{43}${ALNUM}{1}»`], clean: ['AQ.Ab8RN6'] },
  'mem0-key': { match: [`«m0-${ALNUM}{40}»`], clean: ['m0-core', `arm0-${ALNUM}{40}`] },
  'polar-token': { match: [`«polar_oat_${ALNUM}{43}»`], clean: ['polar_oat_de_prueba', 'polar_chart'] },
  'qstash-signing-key': {
    match: [`«sig_[a-z]{6}[0-9]{6}[A-Z]{14}»`],
    clean: ['sig_atomic_t', 'sig_handler_for_all_children_x'],
  },
  'snyk-token': {
    match: [
      `«snyk_uat.${ALNUM}{8}.eyJ${ALNUM}{60}.${ALNUM}{40}»`,
      `«snyk_sat.${ALNUM}{8}.eyJ${ALNUM}{60}.${ALNUM}{40}»`,
    ],
    clean: ['snyk_uat.x'],
  },
  'trigger-dev-key': {
    match: [`«tr_prod_[a-z]{6}[0-9]{6}[A-Z]{8}»`],
    clean: ['tr_prod_sigma_equal', 'attr_prod_200069'],
  },
  'unkey-root-key': { match: [`«unkey_3Z[a-z]{6}[0-9]{6}[A-Z]{8}»`], clean: ['unkey_children', 'FUNKEY_3'] },
  'val-town-token': { match: [`«vtwn_${ALNUM}{30}»`], clean: ['vtwn_'] },
  'wakatime-key': { match: [`«waka_${UUID}»`, `«waka_tok_${ALNUM}{80}»`], clean: ['waka_dialog', 'waka_tok_name'] },
};
