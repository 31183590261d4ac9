/** Reads and formats the data of an asset's page. */
import { html } from 'hono/html'
import type { Verification } from '../../../../packages/verify/src/verification.ts'
import type { Context } from '../../../context.ts'
import type { Messages } from '../../../locales/messages.ts'
import type { Language } from '../../../shared/language.ts'
import type { AssetPageQuery } from '../generated/graphql.ts'
import { graphql } from '../generated/index.ts'
import type { Html, Run } from '../page.ts'

/** The reader's language and its messages. */
export interface Speech {
  language: Language
  words: Messages['pages']['asset']
}

const momentStyle = { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' } as const
/** Formatters are reused, because creating one takes as long as formatting hundreds of times. */
const moments: Record<Language, Intl.DateTimeFormat> = {
  en: new Intl.DateTimeFormat('en', momentStyle),
  'zh-TW': new Intl.DateTimeFormat('zh-TW', momentStyle),
}

/** Formats a time in UTC. `at`: ISO 8601. */
export const momentText = (at: string, language: Language): string => `${moments[language].format(new Date(at))} UTC`

/** Renders a time in UTC as a `time` element. `at`: ISO 8601. */
export const moment = (at: string, language: Language): Html =>
  html`<time datetime="${at}">${momentText(at, language)}</time>`

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte'] as const

/** Formats a size with a suitable unit. `bytes`: a decimal string. */
export function sizeText(bytes: string, language: Language): string {
  let size = Number(bytes)
  let unit = 0
  for (; size >= 1_000 && unit < units.length - 1; unit += 1) size /= 1_000
  const style = { style: 'unit', unit: units[unit]!, unitDisplay: 'short', maximumFractionDigits: 1 } as const
  return new Intl.NumberFormat(language, style).format(size)
}

/** Maximum number of characters shown of a value. */
const MOST_SHOWN = 600

/** Shortens a long text. */
export const clip = (text: string): string => {
  const characters = [...text.slice(0, MOST_SHOWN * 2 + 2)]
  return characters.length > MOST_SHOWN ? `${characters.slice(0, MOST_SHOWN).join('')}…` : text
}

/** Formats the value of a metadata field. Returns undefined for an empty value. */
export function valueText(value: unknown, { words }: Speech): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  if (typeof value === 'boolean') return value ? words.yes : words.no
  return clip(typeof value === 'string' ? value : JSON.stringify(value))
}

/** Renders a list of names and values. Skips false and undefined pairs. */
export const facts = (...pairs: (readonly [string, Html | string] | false | undefined)[]): Html =>
  html`<dl class="facts">${pairs.map((pair) => pair && html`<dt>${pair[0]}</dt><dd>${pair[1]}</dd>`)}</dl>`

/** Returns the title of an asset. */
export const titleOf = ({ headline, assetFileName, nid }: { headline: string; assetFileName: string; nid: string }) =>
  headline || assetFileName || nid

const AssetPage = graphql(/* GraphQL */ `
  query AssetPage($id: ID!, $first: Int!, $after: String) {
    asset(id: $id) {
      nid
      assetFileName
      assetFileMimeType
      assetFileSize
      assetFileUrl
      thumbnailUrl
      proofHash
      caption
      headline
      altText
      publicAccess
      nitCommitCustom
      uploadedAt
      updatedAt
      commitCount
      owner {
        displayName
        address
      }
      creator {
        displayName
        address
      }
      contentCredentials {
        state
        trustList
        signer
        issuer
        signedAt
        generator
        creators
        actions
        digitalSourceType
        mining
        problems
        notChecked
        remoteManifestUrl
        manifestCount
        checkedAt
      }
      registration {
        status
      }
      commits(first: $first, after: $after) {
        pageInfo {
          hasNextPage
          endCursor
        }
        nodes {
          sequence
          message
          changes
          createdAt
          treeCid
          status
          transactionHash
          explorerUrl
          blockNumber
          user {
            displayName
          }
        }
      }
    }
  }
`)

/** An asset with the fields that the page shows. */
export type ShownAsset = NonNullable<AssetPageQuery['asset']>
/** A commit with the fields that the page shows. */
export type ShownCommit = ShownAsset['commits']['nodes'][number]
/** Result of a verification. */
export type Checked = Verification

const COMMITS_ON_A_PAGE = 50

/** Returns the asset with its newest commits, or those after a cursor. Throws the errors of the operation. */
export async function readAsset(run: Run, id: string, after: string | null, context: Context): Promise<ShownAsset> {
  const { asset } = await run(AssetPage, { id, first: COMMITS_ON_A_PAGE, after }, context)
  return asset!
}
