import { type FormEvent, useEffect, useRef, useState } from 'react'
import { Link, useNavigate } from 'react-router'
import { duplicateOf, fieldErrorsOf } from '../api/errors.ts'
import { fetchWithProgress } from '../api/fetch-with-progress.ts'
import { useOnce } from '../api/once.ts'
import { useQuote } from '../api/quote.ts'
import { Field } from '../components/field.tsx'
import { type Metadata, MetadataFields } from '../components/metadata-fields.tsx'
import { Page } from '../components/page.tsx'
import { fieldProblemsOf, Price } from '../components/price.tsx'
import { Problem } from '../components/problem.tsx'
import { UploadProgress } from '../components/upload-progress.tsx'
import { graphql } from '../gql/gql.ts'

const QuoteRegistration = graphql(/* GraphQL */ `
  query QuoteRegistration($input: QuoteRegisterAssetInput!) {
    quote(input: { registerAsset: $input }) {
      total
      problems {
        field
        message
      }
      ...Price
    }
  }
`)

const RegisterAsset = graphql(/* GraphQL */ `
  mutation RegisterAsset($input: RegisterAssetInput!) {
    registerAsset(input: $input) {
      asset {
        id
      }
    }
  }
`)

const nothing: Metadata = { headline: '', caption: '', altText: '', publicAccess: false }

export function NewAssetPage() {
  const navigate = useNavigate()
  const [file, setFile] = useState<File>()
  const [metadata, setMetadata] = useState(nothing)
  const [uploaded, setUploaded] = useState(0)
  const upload = useRef<AbortController>(undefined)
  const [{ error, fetching }, register] = useOnce(RegisterAsset)
  const { quote, isOld, mayPay, askAgain } = useQuote(QuoteRegistration, metadata)
  const wrong = { ...fieldProblemsOf(quote?.problems ?? []), ...fieldErrorsOf(error) }
  const duplicate = error && duplicateOf(error)

  // Whoever leaves the page does not want the rest to be sent.
  useEffect(() => () => upload.current?.abort(), [])

  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (!file || !quote || !mayPay || fetching) return
    upload.current = new AbortController()
    setUploaded(0)
    const { data, error: refusal } = await register(
      { input: { ...metadata, assetFile: file, maxCost: quote.total } },
      { fetch: fetchWithProgress({ onProgress: setUploaded, signal: upload.current.signal }) },
    )
    if (refusal) askAgain()
    const id = data?.registerAsset.asset?.id
    if (id) navigate(`/assets/${id}`)
  }

  return (
    <Page title="Register a file">
      <form onSubmit={submit} aria-busy={fetching}>
        <Problem error={error}>{duplicate && <Link to={`/assets/${duplicate}`}>Look at it</Link>}</Problem>
        <Field label="File" hint="At most 250 MB." error={wrong.assetFile}>
          <input type="file" required onChange={({ target }) => setFile(target.files?.[0])} />
        </Field>
        {file && <Preview file={file} />}
        <MetadataFields
          values={metadata}
          wrong={wrong}
          onChange={(change) => setMetadata((before) => ({ ...before, ...change }))}
        />
        {quote && <Price quote={quote} isOld={isOld} />}
        {fetching && <UploadProgress fraction={uploaded} onCancel={() => upload.current?.abort()} />}
        <button type="submit" aria-disabled={fetching || !mayPay}>
          Register
        </button>
      </form>
    </Page>
  )
}

function Preview({ file }: { file: File }) {
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    const fresh = URL.createObjectURL(file)
    setUrl(fresh)
    return () => URL.revokeObjectURL(fresh)
  }, [file])
  return file.type.startsWith('image/') ? <img className="preview" src={url} alt="What you chose" /> : null
}
