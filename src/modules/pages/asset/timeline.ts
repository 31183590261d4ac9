/** Renders the history of an asset, and the claims of its manifest. */
import { html } from 'hono/html'
import { fill } from '../../../locales/messages.ts'
import { type ChangeKey, customField } from '../../assets/metadata.ts'
import type { Html } from '../page.ts'
import { marksOf } from './checked.ts'
import {
  type Checked,
  clip,
  facts,
  moment,
  momentText,
  type ShownAsset,
  type ShownCommit,
  type Speech,
  valueText,
} from './read.ts'

/** Returns custom fields as a map. A plain object would also have inherited keys such as `constructor`. */
const customIn = (value: unknown) =>
  new Map<string, unknown>(typeof value === 'object' && value !== null ? Object.entries(value) : [])

/** Maximum number of changes shown per commit. A commit may contain a thousand, and a page has fifty commits. */
const MOST_CHANGES = 50

type Change = [name: string, before: unknown, after: unknown]

/** Returns the changes of a commit with their labels. The first commit has no previous values. */
function changesOf({ changes, sequence }: ShownCommit, { words }: Speech): Change[] {
  // The type ensures that every metadata field has a label.
  const labels: Record<ChangeKey, string> = words.fields
  const isField = (key: string): key is ChangeKey => Object.hasOwn(labels, key)
  return Object.entries(changes).flatMap(([key, change]): Change[] => {
    const [before, after] = Array.isArray(change) ? change : []
    if (key !== customField.changeName)
      return [[isField(key) ? labels[key] : key, sequence === 1 ? undefined : before, after]]
    const [old, now] = [customIn(before), customIn(after)]
    return [...new Set([...old.keys(), ...now.keys()])].map((key) => [key, old.get(key), now.get(key)])
  })
}

/** Renders the old and the new value of a field, distinguishable without colours and by screen readers. */
function change([field, before, after]: Change, speech: Speech): Html {
  const { words } = speech
  const name = clip(field)
  const [old, now] = [valueText(before, speech), valueText(after, speech)]
  const shown = now === undefined ? html`<span class="quiet">${words.nothing}</span>` : html`<ins>${now}</ins>`
  if (old === undefined) return html`<dt>${name}</dt><dd>${shown}</dd>`
  return html`<dt>${name}</dt><dd><span class="hidden">${words.before} </span><del>${old}</del> <span aria-hidden="true">→</span> <span class="hidden">${words.after} </span>${shown}</dd>`
}

/** Renders a transaction hash, as a link if an explorer is configured. */
export const transaction = (hash: string, explorerUrl: string | null): Html =>
  explorerUrl === null ? html`<code>${hash}</code>` : html`<a href="${explorerUrl}"><code>${hash}</code></a>`

function commit(shown: ShownCommit, checked: Checked | undefined, speech: Speech): Html {
  const { language, words } = speech
  const { sequence, user, createdAt, message, transactionHash, explorerUrl, blockNumber, status } = shown
  const changes = changesOf(shown, speech)
  return html`<li>
<h3>${sequence === 1 ? words.registration : words.change}</h3>
<p class="quiet">${moment(createdAt, language)} · <bdi>${user.displayName}</bdi></p>
${message && html`<p class="message">${message}</p>`}
${changes.length > 0 && html`<dl class="changes">${changes.slice(0, MOST_CHANGES).map((each) => change(each, speech))}</dl>`}
${changes.length > MOST_CHANGES && html`<p class="quiet">${fill(words.moreChanges, { count: changes.length - MOST_CHANGES })}</p>`}
${facts(
  [words.status, words.statuses[status]],
  blockNumber !== null && [words.block, String(blockNumber)],
  transactionHash !== null && [words.transaction, transaction(transactionHash, explorerUrl)],
)}
${checked ? marksOf(checked, shown, speech) : ''}
</li>
`
}

/** Renders a page of the history, newest first. `at`: returns the page's URL, optionally with a cursor. */
export function timeline(
  asset: ShownAsset,
  { at, isNewest, checked }: { at: (older?: string) => string; isNewest: boolean; checked: Checked | undefined },
  speech: Speech,
): Html {
  const { words } = speech
  const { nodes, pageInfo } = asset.commits
  return html`<section aria-labelledby="history"><h2 id="history">${words.history}</h2>
<p class="quiet">${fill(words.historyText, { count: asset.commitCount })}</p>
<ol class="timeline" reversed start="${nodes[0]?.sequence ?? asset.commitCount}">
${nodes.map((each) => commit(each, checked, speech))}</ol>
<p class="pages no-print">${!isNewest && html`<a href="${at()}#history">${words.newest}</a> `}${pageInfo.hasNextPage && pageInfo.endCursor !== null && html`<a href="${at(pageInfo.endCursor)}#history">${words.older}</a>`}</p>
</section>`
}

const tones = { TRUSTED: 'good', VALID: '', INVALID: 'bad', UNREADABLE: '', REMOTE: '' } as const

/** Renders the manifest's claims and their trustworthiness. Empty for a file without a manifest. */
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
