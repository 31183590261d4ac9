import { type FormEvent, useState } from 'react'
import { codeOf, fieldErrorsOf } from '../api/errors.ts'
import { useOnce } from '../api/once.ts'
import { useQuote } from '../api/quote.ts'
import { type FragmentType, readFragment } from '../gql/fragment-masking.ts'
import { graphql } from '../gql/gql.ts'
import type { AssetFormFragment, UpdateAssetMetadataInput } from '../gql/graphql.ts'
import { Conflict } from './conflict.tsx'
import { Field } from './field.tsx'
import { type Metadata, MetadataFields } from './metadata-fields.tsx'
import { focusHeading } from './page.tsx'
import { fieldProblemsOf, Price } from './price.tsx'
import { Problem } from './problem.tsx'

const Fragment = graphql(/* GraphQL */ `
  fragment AssetForm on Asset {
    id
    headId
    headline
    caption
    altText
    publicAccess
  }
`)

const QuoteUpdate = graphql(/* GraphQL */ `
  query QuoteUpdate($input: UpdateAssetMetadataInput!) {
    quote(input: { updateAssetMetadata: $input }) {
      total
      problems {
        code
        field
        message
      }
      ...Price
    }
  }
`)

const UpdateAsset = graphql(/* GraphQL */ `
  mutation UpdateAsset($input: UpdateAssetMetadataInput!) {
    updateAssetMetadata(input: $input) {
      asset {
        ...AssetForm
      }
    }
  }
`)

/** What the person has changed, and the version of the asset that they changed. */
interface Draft {
  seen: AssetFormFragment
  changes: Partial<Metadata>
}

/**
 * Changes an asset. Until something is typed it shows the newest version; from then on the one that was seen then, whatever
 * happens meanwhile: the server refuses to write over a version that nobody looked at.
 */
export function AssetForm({ asset, reread }: { asset: FragmentType<typeof Fragment>; reread: () => void }) {
  const newest = readFragment(Fragment, asset)
  const [draft, setDraft] = useState<Draft | null>(null)
  const [commitMessage, setCommitMessage] = useState('')
  const [{ error, fetching }, update] = useOnce(UpdateAsset)

  const { seen, changes } = draft ?? { seen: newest, changes: {} }
  const input: UpdateAssetMetadataInput = { id: seen.id, expectedHead: seen.headId, commitMessage, ...changes }
  const { quote, isOld, mayPay, askAgain } = useQuote(QuoteUpdate, input, { pause: draft === null })
  const wrong = { ...fieldProblemsOf(quote?.problems ?? []), ...fieldErrorsOf(error) }
  const isConflict = seen.headId !== newest.headId

  const finish = () => {
    setDraft(null)
    setCommitMessage('')
    focusHeading()
  }

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!quote || !mayPay) return
    const { error: refusal } = await update({ input: { ...input, maxCost: quote.total } })
    if (!refusal) return finish()
    askAgain()
    if (codeOf(refusal) === 'CONFLICT') reread()
  }

  return (
    <form onSubmit={submit} aria-label="Metadata" aria-busy={fetching}>
      {draft && isConflict ? (
        <Conflict
          newest={newest}
          changes={changes}
          onKeep={() => {
            setDraft({ seen: newest, changes })
            focusHeading()
          }}
          onDrop={finish}
        />
      ) : (
        <Problem error={error} />
      )}
      <MetadataFields
        values={{ ...seen, ...changes }}
        wrong={wrong}
        onChange={(change) => setDraft({ seen, changes: { ...changes, ...change } })}
      />
      {draft && !isConflict && (
        <>
          <Field
            label="What did you change, and why?"
            hint="Stands in the history for good."
            error={wrong.commitMessage}
          >
            <input value={commitMessage} onChange={({ target }) => setCommitMessage(target.value)} />
          </Field>
          {quote && <Price quote={quote} isOld={isOld} />}
          <div className="buttons">
            <button type="submit" aria-disabled={!mayPay}>
              Save
            </button>
            <button type="button" className="quiet" onClick={finish}>
              Discard
            </button>
          </div>
        </>
      )}
    </form>
  )
}
