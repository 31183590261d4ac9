import { Link } from 'react-router'
import { Page } from '../components/page.tsx'

export const NotFoundPage = () => (
  <Page title="Nothing here">
    <p>
      There is no such page, or nothing that you may see. <Link to="/">Go to your assets</Link>
    </p>
  </Page>
)
