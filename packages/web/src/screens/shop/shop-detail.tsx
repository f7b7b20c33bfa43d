// What is open in the shop: an alias, the orders, or one order.
import { route } from '../../session/route.ts'
import { AliasOffer } from './alias-offer.tsx'
import { OrderList } from './order-list.tsx'
import { OrderPage } from './order-page.tsx'
import './shop.css'

export function ShopDetail({ id }: { readonly id: string }) {
  const [, , name] = route.value.path
  if (id === 'orders' && name !== undefined) return <OrderPage key={name} orderId={name} />
  return id === 'alias' && name !== undefined ? <AliasOffer key={name} alias={name} /> : <OrderList />
}
