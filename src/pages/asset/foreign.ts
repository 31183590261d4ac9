/** What others committed to the file: shown as text, and marked as nobody's word of ours. */
import { html } from 'hono/html'
import type { Html } from '../layout.ts'
import type { ShownAsset } from './read.ts'
import { clip, facts, moment, type Speech } from './shown.ts'
import { transaction } from './timeline.ts'

/** The newest of them; nothing where there are none. */
export function foreign({ foreignCommits: { nodes } }: ShownAsset, { language, words }: Speech): Html {
  if (nodes.length === 0) return html``
  return html`<section aria-labelledby="foreign"><h2 id="foreign">${words.foreign.title}</h2>
<p>${words.foreign.intro}</p>
<ol class="timeline foreign">
${nodes.map(
  ({ recorder, recordedAt, text, blockNumber, transactionHash, explorerUrl }) => html`<li>
<p class="quiet">${moment(recordedAt, language)}</p>
<p class="message">${clip(text)}</p>
${facts(
  [words.foreign.recorder, html`<code>${recorder}</code>`],
  [words.block, String(blockNumber)],
  [words.transaction, transaction(transactionHash, explorerUrl)],
)}
</li>
`,
)}</ol>
</section>`
}
