import type { ReactNode } from 'react'
import { Page } from './page.tsx'

/** The frame around the pages of somebody who is not signed in. */
export const Gate = ({ title, children }: { title: string; children: ReactNode }) => (
  <main className="gate">
    <p className="brand">
      <img src="/icon.svg" alt="" width="32" height="32" /> Annal
    </p>
    <Page title={title}>{children}</Page>
  </main>
)
