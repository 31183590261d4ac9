import { Field } from './field.tsx'

/** What a person says about an asset. */
export interface Metadata {
  headline: string
  caption: string
  altText: string
  publicAccess: boolean
}

/** What its fields are called. */
export const metadataLabels: Record<keyof Metadata, string> = {
  headline: 'Title',
  caption: 'Description',
  altText: 'Alternative text',
  publicAccess: 'Everybody may see it',
}

/** A value of it as text, or of a field that somebody added, which may be anything that JSON has. */
export function showValue(value: unknown): string {
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : `${value || '(empty)'}`
}

/** The inputs for it. `wrong` tells by field what is not as it has to be. */
export function MetadataFields({
  values,
  wrong,
  onChange,
}: {
  values: Metadata
  wrong: Record<string, string>
  onChange: (change: Partial<Metadata>) => void
}) {
  return (
    <>
      <Field label={metadataLabels.headline} error={wrong.headline}>
        <input value={values.headline} onChange={({ target }) => onChange({ headline: target.value })} />
      </Field>
      <Field label={metadataLabels.caption} error={wrong.caption}>
        <textarea rows={3} value={values.caption} onChange={({ target }) => onChange({ caption: target.value })} />
      </Field>
      <Field label={metadataLabels.altText} hint="For those who cannot see the picture." error={wrong.altText}>
        <input value={values.altText} onChange={({ target }) => onChange({ altText: target.value })} />
      </Field>
      <label className="check">
        <input
          type="checkbox"
          checked={values.publicAccess}
          onChange={({ target }) => onChange({ publicAccess: target.checked })}
        />
        {metadataLabels.publicAccess}
      </label>
    </>
  )
}
