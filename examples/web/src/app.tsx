import { useMemo } from 'react'
import { Navigate, Route, Routes } from 'react-router'
import { Provider } from 'urql'
import { createAnnalClient } from './api/client.ts'
import { useToken } from './api/session.ts'
import { Layout } from './components/layout.tsx'
import { AssetPage } from './pages/asset.tsx'
import { AssetsPage } from './pages/assets.tsx'
import { NewAssetPage } from './pages/new-asset.tsx'
import { NotFoundPage } from './pages/not-found.tsx'
import { OrderPage } from './pages/order.tsx'
import { OrdersPage } from './pages/orders.tsx'
import { SignInPage } from './pages/sign-in.tsx'
import { SignUpPage } from './pages/sign-up.tsx'
import { WalletPage } from './pages/wallet.tsx'

export function App() {
  const token = useToken()
  // Another session gets another client, so that nobody ever sees what was cached for somebody else.
  const client = useMemo(() => createAnnalClient(token), [token])
  return (
    <Provider value={client}>
      <Routes>
        {token === null ? (
          <>
            <Route path="/sign-up" element={<SignUpPage />} />
            <Route path="*" element={<SignInPage />} />
          </>
        ) : (
          <Route element={<Layout />}>
            <Route index element={<AssetsPage />} />
            <Route path="/sign-up" element={<Navigate to="/" replace />} />
            <Route path="/assets/new" element={<NewAssetPage />} />
            <Route path="/assets/:id" element={<AssetPage />} />
            <Route path="/orders" element={<OrdersPage />} />
            <Route path="/orders/:id" element={<OrderPage />} />
            <Route path="/wallet" element={<WalletPage />} />
            <Route path="*" element={<NotFoundPage />} />
          </Route>
        )}
      </Routes>
    </Provider>
  )
}
