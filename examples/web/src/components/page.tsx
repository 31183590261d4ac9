import { type ReactNode, useEffect } from 'react'
import { useLocation } from 'react-router'

/** Takes the focus to the heading, where what had it is gone from the screen. */
export const focusHeading = () => document.querySelector('h1')?.focus()

/**
 * What every page has: a title in the tab and a heading. The heading gets the focus when one comes from another page, so that
 * keyboard and screen reader begin there.
 */
export function Page({ title, aside, children }: { title: string; aside?: ReactNode; children: ReactNode }) {
  const { key } = useLocation()
  useEffect(() => {
    if (key !== 'default') focusHeading()
  }, [key])
  return (
    <>
      <title>{`${title} – Annal`}</title>
      <div className="page-head">
        <h1 tabIndex={-1}>{title}</h1>
        {aside}
      </div>
      {children}
    </>
  )
}
