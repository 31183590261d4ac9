import { type Metadata, metadataLabels, showValue } from './metadata-fields.tsx'

/** Somebody else changed the asset while it was edited: shows both versions of what was edited, and lets the person choose. */
export function Conflict({
  newest,
  changes,
  onKeep,
  onDrop,
}: {
  newest: Metadata
  changes: Partial<Metadata>
  onKeep: () => void
  onDrop: () => void
}) {
  const edited = (Object.keys(metadataLabels) as (keyof Metadata)[]).filter((name) => name in changes)
  return (
    <div className="notice" role="alert">
      <p>Somebody else changed this asset while you did. Nothing was saved or charged yet.</p>
      <table>
        <thead>
          <tr>
            <th scope="col">Field</th>
            <th scope="col">Now</th>
            <th scope="col">Yours</th>
          </tr>
        </thead>
        <tbody>
          {edited.map((name) => (
            <tr key={name}>
              <th scope="row">{metadataLabels[name]}</th>
              <td>{showValue(newest[name])}</td>
              <td>{showValue(changes[name])}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <div className="buttons">
        <button type="button" onClick={onKeep}>
          Keep my changes
        </button>
        <button type="button" className="quiet" onClick={onDrop}>
          Drop my changes
        </button>
      </div>
    </div>
  )
}
