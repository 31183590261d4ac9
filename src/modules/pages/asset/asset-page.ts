/** Public page of an asset: metadata, history, and instructions to verify them. The page needs no script. */
import { html } from 'hono/html'
import type { Context } from '../../../context.ts'
import { fill, messages } from '../../../locales/messages.ts'
import { DomainError } from '../../../shared/errors.ts'
import { preferredLanguage } from '../../../shared/language.ts'
import { assetPagePath, readerByLink } from '../../assets/asset-links.ts'
import { type ChangeKey, customField } from '../../assets/metadata.ts'
import { verifyHistory } from '../../commits/verify-history.ts'
import type { FormPage, Html, PageAnswer, PageRequest, Run } from '../page.ts'
import { layout, noticePage, pageHeaders, refusalPage } from '../page.ts'
import type { Checked, ShownAsset, ShownCommit, Speech } from './read.ts'
import * as view from './read.ts'

const { clip, facts, timeElement, titleOf, valueText } = view

type Finding = Checked['complete']

const signs = { right: '✓', wrong: '✗', unknown: '?' }
const tones = { right: 'good', wrong: 'bad', unknown: '' }
const verdictTones = { holds: 'good', broken: 'bad', unsettled: '', unknown: '' } as const

/** The finding is in English. */
function mark({ result, finding }: Finding, { words }: Speech): Html {
  const name = { right: words.check.right, wrong: words.check.wrong, unknown: words.check.open }[result]
  return html`<span class="mark ${tones[result]}"><span aria-hidden="true">${signs[result]}</span> ${name}</span>${finding === undefined ? '' : html` <span lang="en">${finding}</span>`}`
}

function marksOf({ commits }: Checked, { treeCid, transactionHash }: ShownCommit, speech: Speech): Html {
  const found = commits.findLast(
    (commit) => commit.commitData?.assetTreeCid === treeCid && commit.transactionHash === transactionHash,
  )
  if (!found) return html``
  const open = found.checks.filter(({ result }) => result !== 'right')
  if (!open.length)
    return html`<p class="checks">${speech.words.check.commit}: ${mark({ result: 'right' }, speech)}</p>`
  return html`<ul class="checks">${open.map((check) => html`<li><code>${check.name}</code> ${mark(check, speech)}</li>`)}</ul>`
}

function result(checked: Checked, speech: Speech): Html {
  const { language, words } = speech
  const { verdict, asOf, chainId, registry, foreign, foreignRecorders } = checked
  const line = (name: string, finding: Finding | null | undefined) =>
    finding ? ([name, mark(finding, speech)] as const) : undefined
  return html`<div class="notice ${verdictTones[verdict]}" role="status"><p><strong>${words.check[verdict]}</strong></p>
<p>${words.check[`${verdict}Text`]}</p></div>
${facts(
  line(words.check.complete, checked.complete),
  line(words.check.file, checked.file),
  line(words.check.settled, checked.settled),
  checked.recorder.result !== 'right' && line(words.check.recorder, checked.recorder),
  line(words.check.record, checked.record),
  [
    words.check.registry,
    html`<code>${registry}</code>, ${chainId === null ? words.check.open : fill(words.check.chain, { chain: chainId })}`,
  ],
)}
${asOf && html`<p class="quiet">${sentenceWithTime(words.check.asOf, asOf.number, timeElement(asOf.time, language))}</p>`}
${foreign > 0 && html`<p>${fill(words.check.foreign, { count: foreign })} ${foreignRecorders.map((address) => html`<code>${address}</code> `)}</p>`}`
}

function sentenceWithTime(sentence: string, block: number, time: Html): Html {
  const [before = '', after = ''] = fill(sentence, { block, time: '\n' }).split('\n')
  return html`${before}${time}${after}`
}

/** Result of verifying an asset's history, or the reason why the verification did not run. */
type CheckOutcome = { checked: Checked } | { refused: 'busy' | 'tooLong' | 'notYet' }

/** Verifying needs a click, because it sends a node request per block. */
function check(outcome: CheckOutcome | undefined, { words, ...speech }: Speech): Html {
  const refused = outcome && 'refused' in outcome ? outcome.refused : undefined
  return html`<section aria-labelledby="check"><h2 id="check">${words.check.title}</h2>
${refused === undefined ? '' : html`<div class="notice" role="status"><p><strong>${words.check.busy}</strong></p><p>${refused === 'busy' ? words.check.busyText : words.check[refused]}</p></div>`}
${outcome && 'checked' in outcome ? result(outcome.checked, { words, ...speech }) : html`<p>${words.check.intro}</p>`}
<form method="post" action="#check" class="no-print"><button>${outcome ? words.check.again : words.check.button}</button></form>
</section>`
}

interface ProofParts {
  /** Null if there is no proof yet. */
  proofUrl: string | null
  place: { chainId: number; registry: string } | undefined
  baseUrl: string
}

/** Renders the link to the proof, and commands that verify the proof. */
function yourself({ nid, publicAccess }: ShownAsset, parts: ProofParts, { words: { yourself: words } }: Speech): Html {
  const { proofUrl, place, baseUrl } = parts
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

/** A plain object would also have inherited keys such as `constructor`. */
const customIn = (value: unknown) =>
  new Map<string, unknown>(typeof value === 'object' && value !== null ? Object.entries(value) : [])

/** Maximum number of changes shown per commit. A commit may contain a thousand. */
const MOST_CHANGES = 50

type Change = [name: string, before: unknown, after: unknown]

/** The first commit has no previous values. */
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

/** Readers can distinguish the old and the new value without colours and by screen reader. */
function change([field, before, after]: Change, speech: Speech): Html {
  const { words } = speech
  const name = clip(field)
  const [old, now] = [valueText(before, speech), valueText(after, speech)]
  const shown = now === undefined ? html`<span class="quiet">${words.nothing}</span>` : html`<ins>${now}</ins>`
  if (old === undefined) return html`<dt>${name}</dt><dd>${shown}</dd>`
  return html`<dt>${name}</dt><dd><span class="hidden">${words.before} </span><del>${old}</del> <span aria-hidden="true">→</span> <span class="hidden">${words.after} </span>${shown}</dd>`
}

const transaction = (hash: string, explorerUrl: string | null): Html =>
  explorerUrl === null ? html`<code>${hash}</code>` : html`<a href="${explorerUrl}"><code>${hash}</code></a>`

function commit(shown: ShownCommit, checked: Checked | undefined, speech: Speech): Html {
  const { language, words } = speech
  const { sequence, user, createdAt, message, transactionHash, explorerUrl, blockNumber, status } = shown
  const changes = changesOf(shown, speech)
  return html`<li>
<h3>${sequence === 1 ? words.registration : words.change}</h3>
<p class="quiet">${timeElement(createdAt, language)} · <bdi>${user.displayName}</bdi></p>
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

/** Renders one page of the history, newest first. `at`: returns the URL of the page, optionally with a cursor. */
function timeline(
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

const credentialTones = { TRUSTED: 'good', VALID: '', INVALID: 'bad', UNREADABLE: '', REMOTE: '' } as const

/** Renders the claims of the C2PA manifest and whether they are trusted. */
function credentials({ contentCredentials: claims }: ShownAsset, { language, words: all }: Speech): Html {
  if (claims === null) return html``
  const words = all.credentials
  const { state, trustList, checkedAt, manifestCount } = claims
  const isJudged = state !== 'UNREADABLE' && state !== 'REMOTE'
  const time = view.timeText(checkedAt, language)
  const judged = fill(trustList === null ? words.unjudged : words.judged, { time })
  const unchecked = claims.notChecked.map((part) => words.unchecked[part as keyof typeof words.unchecked] ?? part)
  const list = (name: string, values: readonly (string | null)[]) => {
    const text = values.filter(Boolean).join(', ')
    return text !== '' && ([name, text] as const)
  }
  return html`<section aria-labelledby="credentials"><h2 id="credentials">${words.title}</h2>
<p>${words.intro}</p>
<div class="notice ${credentialTones[state]}"><p>${words.states[state]}</p></div>
${facts(
  list(words.signer, [claims.signer, claims.issuer]),
  list(words.signedAt, [claims.signedAt]),
  list(words.generator, [claims.generator]),
  list(words.creators, claims.creators),
  list(words.actions, claims.actions),
  list(words.source, [claims.digitalSourceType]),
  list(words.mining, claims.mining),
  list(words.problems, claims.problems),
  list(words.notChecked, unchecked),
  list(words.remote, [claims.remoteManifestUrl]),
  manifestCount > 1 && [words.manifests, String(manifestCount)],
)}
${isJudged && html`<p class="quiet">${judged} ${trustList !== null && html`<span lang="en">${trustList}</span>`}</p>`}
</section>`
}

const speechOf = (languages: string): Speech => {
  const language = preferredLanguage(languages)
  return { language, words: messages[language].pages.asset }
}

const refusalCodes: Partial<Record<DomainError['code'], 'busy' | 'tooLong' | 'notYet'>> = {
  UNAVAILABLE: 'busy',
  VALIDATION_FAILED: 'tooLong',
  CONFLICT: 'notYet',
}

/** Throws only errors that the user cannot fix. */
async function verify({ params, context }: PageRequest): Promise<CheckOutcome> {
  try {
    return { checked: await verifyHistory(context, params.nid!) }
  } catch (error) {
    const refused = error instanceof DomainError ? refusalCodes[error.code] : undefined
    if (refused === undefined) throw error
    return { refused }
  }
}

const about = (asset: ShownAsset, speech: Speech) => {
  const { language, words } = speech
  const named = ({ displayName, address }: ShownAsset['owner']) =>
    html`<bdi>${displayName}</bdi> <code>${address}</code>`
  return html`<section aria-labelledby="about"><h2 id="about">${words.about}</h2>
${facts(
  [words.registeredBy, named(asset.creator)],
  asset.owner.address !== asset.creator.address && [words.owner, named(asset.owner)],
  [words.registered, timeElement(asset.uploadedAt, language)],
  asset.commitCount > 1 && [words.changed, timeElement(asset.updatedAt, language)],
  [words.file, asset.assetFileName],
  [words.identifier, html`<code>${asset.nid}</code>`],
  ['SHA-256', html`<code>${asset.proofHash}</code>`],
)}
</section>`
}

/** Custom fields have their own section, because their names may equal the names of standard fields. */
const described = (asset: ShownAsset, speech: Speech) => {
  const { words } = speech
  const custom = Object.entries(asset.nitCommitCustom)
  if (custom.length === 0) return html``
  return html`<section aria-labelledby="described"><h2 id="described">${words.described}</h2>
<p>${words.describedText}</p>
${facts(...custom.map(([name, value]) => [clip(name), valueText(value, speech) ?? words.nothing] as const))}
</section>`
}

/** Returns the page request with the permissions of its share link. */
async function byLink(request: PageRequest): Promise<PageRequest> {
  const { params, query, context } = request
  const actor = await readerByLink(context, params.nid!, query)
  return { ...request, context: { ...context, actor } }
}

/** Returns the parameters of the share link, for links to other pages. */
const linkOf = (query: URLSearchParams): Record<string, string> =>
  Object.fromEntries([...query].filter(([name]) => name === 'link' || name === 'signature'))

const addressOf = (path: string, query: Record<string, string>) => {
  const text = new URLSearchParams(query).toString()
  return text ? `${path}?${text}` : path
}

interface AssetPageParts {
  run: Run
  /** Returns true if the asset has a file with Content Credentials. Undefined if that module is not loaded. */
  hasSignedCopy?: ((context: Context, nid: string) => Promise<boolean>) | undefined
}

export function createAssetPage({ run, hasSignedCopy }: AssetPageParts): FormPage {
  async function page(request: PageRequest, outcome?: CheckOutcome): Promise<PageAnswer> {
    const { params, query, context, languages } = request
    const speech = speechOf(languages)
    const older = query.get('older')
    const asset = await view.readAsset(run, params.nid!, older, context)
    const place = await context.histories?.place()
    const hasC2pa = (await hasSignedCopy?.(context, asset.nid)) ?? false
    const link = asset.publicAccess ? {} : linkOf(query)
    const { baseUrl } = context
    const url = baseUrl + assetPagePath(asset.nid)
    const at = (cursor?: string) => addressOf(url, { ...link, ...(cursor !== undefined && { older: cursor }) })
    const checked = outcome && 'checked' in outcome ? outcome.checked : undefined
    const isWritten = ['INCLUDED', 'FINAL'].includes(asset.registration.status)
    const proofUrl = isWritten ? addressOf(`${baseUrl}/api/v3/assets/${asset.nid}/proof/`, link) : null
    const title = titleOf(asset)
    return {
      status: 200,
      headers: pageHeaders(speech.language, view.assetPolicy(baseUrl), !asset.publicAccess),
      html: layout({
        language: speech.language,
        title: `${title} – Annal`,
        style: view.assetStyle,
        ...(asset.publicAccess && { head: view.head(asset, url, speech) }),
        content: html`<p class="brand">Annal</p>
<h1>${title}</h1>
${asset.publicAccess ? '' : html`<p class="quiet">${speech.words.private}</p>`}
${view.media(asset, hasC2pa, speech)}
${asset.caption && html`<p class="caption">${asset.caption}</p>`}
${about(asset, speech)}
${described(asset, speech)}
${credentials(asset, speech)}
${check(outcome, speech)}
${timeline(asset, { at, isNewest: older === null, checked }, speech)}
${yourself(asset, { proofUrl, place, baseUrl }, speech)}`,
      }),
    }
  }

  return {
    path: '/assets/:nid',
    show: async (request) => page(await byLink(request)),
    async submit(request) {
      const read = await byLink(request)
      return page(read, await verify(read))
    },
    refusal(code, status, languages) {
      if (code !== 'NOT_FOUND') return refusalPage(code, status, languages, false)
      const { language, words } = speechOf(languages)
      return noticePage(status, {
        language,
        title: words.missing,
        kind: 'bad',
        paragraphs: [words.missingText, words.missingNext],
      })
    },
  }
}
