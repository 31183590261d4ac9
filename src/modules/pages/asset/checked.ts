/** Renders the result of a verification, and instructions to verify independently. */
import { html } from 'hono/html'
import { fill } from '../../../locales/messages.ts'
import type { Html } from '../page.ts'
import { type Checked, facts, moment, type ShownAsset, type ShownCommit, type Speech } from './read.ts'

type Finding = Checked['complete']
type Result = Finding['result']

const signs: Record<Result, string> = { right: '✓', wrong: '✗', unknown: '?' }
const tones: Record<Result, string> = { right: 'good', wrong: 'bad', unknown: '' }
const verdictTones = { holds: 'good', broken: 'bad', unsettled: '', unknown: '' } as const

/** Renders a result as a sign and a word, with the finding in English. */
function mark({ result, finding }: Finding, { words }: Speech): Html {
  const name = { right: words.check.right, wrong: words.check.wrong, unknown: words.check.open }[result]
  return html`<span class="mark ${tones[result]}"><span aria-hidden="true">${signs[result]}</span> ${name}</span>${finding === undefined ? '' : html` <span lang="en">${finding}</span>`}`
}

/** Renders the result for one commit. Empty if the chain does not have the commit. */
export function marksOf({ commits }: Checked, { treeCid, transactionHash }: ShownCommit, speech: Speech): Html {
  const found = commits.findLast(
    (commit) => commit.commitData?.assetTreeCid === treeCid && commit.transactionHash === transactionHash,
  )
  if (!found) return html``
  const open = found.checks.filter(({ result }) => result !== 'right')
  if (!open.length)
    return html`<p class="checks">${speech.words.check.commit}: ${mark({ result: 'right' }, speech)}</p>`
  return html`<ul class="checks">${open.map((check) => html`<li><code>${check.name}</code> ${mark(check, speech)}</li>`)}</ul>`
}

/** Renders the overall verdict with its individual checks. */
function result(checked: Checked, speech: Speech): Html {
  const { language, words } = speech
  const { verdict, asOf, chainId, registry, foreign, foreignRecorders } = checked
  const line = (name: string, finding: Finding | null | undefined) =>
    finding && ([name, mark(finding, speech)] as const)
  return html`<div class="notice ${verdictTones[verdict]}" role="status"><p><strong>${words.check[verdict]}</strong></p>
<p>${words.check[`${verdict}Text`]}</p></div>
${facts(
  line(words.check.complete, checked.complete) || undefined,
  line(words.check.file, checked.file) || undefined,
  line(words.check.settled, checked.settled) || undefined,
  checked.recorder.result !== 'right' && [words.check.recorder, mark(checked.recorder, speech)],
  line(words.check.record, checked.record) || undefined,
  [
    words.check.registry,
    html`<code>${registry}</code>, ${chainId === null ? words.check.open : fill(words.check.chain, { chain: chainId })}`,
  ],
)}
${asOf && html`<p class="quiet">${sentenceWithMoment(words.check.asOf, asOf.number, moment(asOf.time, language))}</p>`}
${foreign > 0 && html`<p>${fill(words.check.foreign, { count: foreign })} ${foreignRecorders.map((address) => html`<code>${address}</code> `)}</p>`}`
}

/** Renders a sentence with a block number and a time. */
function sentenceWithMoment(sentence: string, block: number, time: Html): Html {
  const [before = '', after = ''] = fill(sentence, { block, time: '\n' }).split('\n')
  return html`${before}${time}${after}`
}

/** Result of a verification, or the reason why it did not run. */
export type CheckOutcome = { checked: Checked } | { refused: 'busy' | 'tooLong' | 'notYet' }

/**
 * Renders the verification form and its result. It needs a click, because a verification sends the chain's node one
 * request per block.
 */
export function check(outcome: CheckOutcome | undefined, { words, ...speech }: Speech): Html {
  const refused = outcome && 'refused' in outcome ? outcome.refused : undefined
  return html`<section aria-labelledby="check"><h2 id="check">${words.check.title}</h2>
${refused === undefined ? '' : html`<div class="notice" role="status"><p><strong>${words.check.busy}</strong></p><p>${refused === 'busy' ? words.check.busyText : words.check[refused]}</p></div>`}
${outcome && 'checked' in outcome ? result(outcome.checked, { words, ...speech }) : html`<p>${words.check.intro}</p>`}
<form method="post" action="#check" class="no-print"><button>${outcome ? words.check.again : words.check.button}</button></form>
</section>`
}

/** Chain and registry address, if known. */
export type Place = { chainId: number; registry: string } | undefined

/**
 * Renders the link to the proof, and commands that verify it without this service. `proofUrl`: null if there is no
 * proof yet. For a private asset, only the proof contains the trees.
 */
export function yourself(
  { nid, publicAccess }: ShownAsset,
  { proofUrl, place, baseUrl }: { proofUrl: string | null; place: Place; baseUrl: string },
  { words: { yourself: words } }: Speech,
): Html {
  const node = place ? fill(words.node, { chain: place.chainId }) : words.anyNode
  const registry = place ? place.registry : html`&lt;${words.address}&gt;`
  const byProof =
    proofUrl === null
      ? html`<p>${words.later}</p>`
      : html`<p><a href="${proofUrl}" download>${words.proof}</a>. ${words.proofText}</p>
<pre><code>npx --no -- annal-verify ${nid}.proof.car --registry ${registry}</code></pre>
<p>${words.hashText}</p>`
  const byNode = html`<p>${words.network}</p>
<pre><code>npx --no -- annal-verify ${nid} --rpc &lt;${node}&gt; --registry ${registry} --gateway ${baseUrl}</code></pre>`
  return html`<section aria-labelledby="yourself"><h2 id="yourself">${words.title}</h2>
<p>${words.intro}</p>
${byProof}
${publicAccess && byNode}
</section>`
}
