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
	return hidden{e}, nil
}

// keepMapper returns outer, with the Mapper that inner may have.
func keepMapper(outer, inner transport.Endpoint) transport.Endpoint {
	if m, ok := inner.(transport.Mapper); ok {
		return mapped{outer, m}
	}
	return outer
}

type mapped struct {
	transport.Endpoint
	transport.Mapper
}
