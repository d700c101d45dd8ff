package transporttest

import "github.com/golaunch/golaunch/transport"

// HideMapper returns p without [transport.Mapper], so that callers take the path
// through the Conn.
func HideMapper(p transport.Provider) transport.Provider { return hideMapper{p} }

type hideMapper struct{ transport.Provider }

// hidden has the methods of Endpoint and no others.
type hidden struct{ transport.Endpoint }

func (p hideMapper) Open(cfg transport.Config) (transport.Endpoint, error) {
	e, err := p.Provider.Open(cfg)
	if err != nil {
		return nil, err
	}
	return keepRester(hidden{e}, e), nil
}

// keepSides returns outer, with the Mapper and the Rester that inner may have.
func keepSides(outer, inner transport.Endpoint) transport.Endpoint {
	m, ok := inner.(transport.Mapper)
	if !ok {
		return keepRester(outer, inner)
	}
	if r, ok := inner.(transport.Rester); ok {
		return mappedRested{outer, m, r}
	}
	return mapped{outer, m}
}

func keepRester(outer, inner transport.Endpoint) transport.Endpoint {
	if r, ok := inner.(transport.Rester); ok {
		return rested{outer, r}
	}
	return outer
}

type mapped struct {
	transport.Endpoint
	transport.Mapper
}

type rested struct {
	transport.Endpoint
	transport.Rester
}

type mappedRested struct {
	transport.Endpoint
	transport.Mapper
	transport.Rester
}
