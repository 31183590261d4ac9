/** What a manifest inside the file claims (C2PA), which is the word of whoever signed it and none of ours. */
import { html } from 'hono/html'
import { fill } from '../../../locales/messages.ts'
import type { Html } from '../layout.ts'
import type { ShownAsset } from './read.ts'
import { facts, momentText, type Speech } from './shown.ts'

const tones = { TRUSTED: 'good', VALID: '', INVALID: 'bad', UNREADABLE: '', REMOTE: '' } as const

/** The claims, and how far they can be believed; nothing for a file without a manifest. */
export function credentials(
  { contentCredentials: claims }: ShownAsset,
  { language, words: { credentials: words } }: Speech,
): Html {
  if (claims === null) return html``
  const { state, trustList, checkedAt, manifestCount } = claims
  const { signer, issuer, signedAt, generator, creators, actions, digitalSourceType, mining } = claims
  const { problems, notChecked, remoteManifestUrl } = claims
  const isJudged = state !== 'UNREADABLE' && state !== 'REMOTE'
  const judged = fill(trustList === null ? words.unjudged : words.judged, { time: momentText(checkedAt, language) })
  const list = (name: string, values: readonly (string | null)[]) => {
    const text = values.filter(Boolean).join(', ')
    return text !== '' && ([name, text] as const)
  }
  return html`<section aria-labelledby="credentials"><h2 id="credentials">${words.title}</h2>
<p>${words.intro}</p>
<div class="notice ${tones[state]}"><p>${words.states[state]}</p></div>
${facts(
  list(words.signer, [signer, issuer]),
  list(words.signedAt, [signedAt]),
  list(words.generator, [generator]),
  list(words.creators, creators),
  list(words.actions, actions),
  list(words.source, [digitalSourceType]),
  list(words.mining, mining),
  list(words.problems, problems),
  list(
    words.notChecked,
    notChecked.map((part) => words.unchecked[part as keyof typeof words.unchecked] ?? part),
  ),
  list(words.remote, [remoteManifestUrl]),
  manifestCount > 1 && [words.manifests, String(manifestCount)],
)}
${isJudged && html`<p class="quiet">${judged} ${trustList !== null && html`<span lang="en">${trustList}</span>`}</p>`}
</section>`
}
