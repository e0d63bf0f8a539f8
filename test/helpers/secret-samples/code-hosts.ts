import { HEX, type RuleSamples } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'github-legacy-token': {
    match: [`GITHUB_TOKEN=«${HEX}{40}»`, `github_client_secret: "«${HEX}{40}»"`],
    clean: [`uses: github/checkout@${HEX}{40}`, `commit ${HEX}{40}`],
  },
  'gitlab-session-cookie': { match: [`«_gitlab_session=${HEX}{32}»`], clean: ['_gitlab_session=x'] },
  'gitea-token': { match: [`GITEA_TOKEN=«${HEX}{40}»`], clean: ['gitea: v1.21', `gitea dump ${HEX}{40}`] },
};
