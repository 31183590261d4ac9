const percent = new Intl.NumberFormat(undefined, { style: 'percent' })

/** How much of a file has left; then the server still stores and registers it. */
export function UploadProgress({ fraction, onCancel }: { fraction: number; onCancel: () => void }) {
  const isSent = fraction === 1
  return (
    <div className="upload">
      <progress value={isSent ? undefined : fraction} aria-label="Upload" />
      <span>{isSent ? 'Being registered…' : percent.format(fraction)}</span>
      {!isSent && (
        <button type="button" className="quiet" onClick={onCancel}>
          Cancel
        </button>
      )}
    </div>
  )
}
